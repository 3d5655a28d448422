<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="xml"/>
  <xsl:key name="by-city" match="record" use="city"/>
  <xsl:template match="/records">
    <cities>
      <xsl:for-each select="record[generate-id() = generate-id(key('by-city', city)[1])]">
        <xsl:sort select="city"/>
        <city name="{city}" count="{count(key('by-city', city))}" sum="{sum(key('by-city', city)/amount)}">
          <xsl:for-each select="key('by-city', city)">
            <xsl:sort select="amount" data-type="number" order="descending"/>
            <xsl:sort select="name"/>
            <row id="{@id}"><xsl:value-of select="name"/>: <xsl:value-of select="amount"/></row>
          </xsl:for-each>
        </city>
      </xsl:for-each>
    </cities>
  </xsl:template>
</xsl:stylesheet>
