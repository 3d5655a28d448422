<?xml version="1.0" encoding="UTF-8"?>
<!-- Stylesheets that never end, by the element that is asked for; everything else becomes itself. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <!-- Calls itself for ever. -->
  <xsl:template match="/endless" name="endless">
    <xsl:call-template name="endless"/>
  </xsl:template>

  <!-- Writes more each time. -->
  <xsl:template match="/writing" name="writing">
    <xsl:param name="text" select="'0123456789'"/>
    <xsl:value-of select="$text"/>
    <xsl:call-template name="writing">
      <xsl:with-param name="text" select="concat($text, $text)"/>
    </xsl:call-template>
  </xsl:template>

  <!-- Ends after 2 to the power of 64 calls. -->
  <xsl:template match="/doubling" name="doubling">
    <xsl:param name="left" select="64"/>
    <xsl:if test="$left &gt; 0">
      <xsl:call-template name="doubling">
        <xsl:with-param name="left" select="$left - 1"/>
      </xsl:call-template>
      <xsl:call-template name="doubling">
        <xsl:with-param name="left" select="$left - 1"/>
      </xsl:call-template>
    </xsl:if>
  </xsl:template>

  <xsl:template match="@*|node()">
    <xsl:copy>
      <xsl:apply-templates select="@*|node()"/>
    </xsl:copy>
  </xsl:template>
</xsl:stylesheet>
