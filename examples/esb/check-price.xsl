<?xml version="1.0" encoding="UTF-8"?>
<!-- What clients ask (checkPriceRequest) as the backend wants it (getQuote). -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:m="http://services.samples">
  <xsl:output method="xml" omit-xml-declaration="yes"/>
  <xsl:template match="/m:checkPriceRequest">
    <m:getQuote>
      <m:request>
        <m:symbol><xsl:value-of select="m:code"/></m:symbol>
      </m:request>
    </m:getQuote>
  </xsl:template>
</xsl:stylesheet>
