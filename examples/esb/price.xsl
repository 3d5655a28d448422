<?xml version="1.0" encoding="UTF-8"?>
<!-- What the backend answers (getQuoteResponse) as clients read it (checkPriceResponse). -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:m="http://services.samples">
  <xsl:output method="xml" omit-xml-declaration="yes"/>
  <xsl:param name="currency"/>
  <xsl:template match="/m:getQuoteResponse">
    <m:checkPriceResponse>
      <m:code><xsl:value-of select="m:return/m:symbol"/></m:code>
      <m:price currency="{$currency}"><xsl:value-of select="m:return/m:last"/></m:price>
    </m:checkPriceResponse>
  </xsl:template>
</xsl:stylesheet>
