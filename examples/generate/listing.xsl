<?xml version="1.0" encoding="UTF-8"?>
<!-- Compiles a program of the sample into the listing of a stack machine: types are inferred, constants are looked up in
     the units that the program uses, values are folded, and a cross-reference ends it. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="text" encoding="UTF-8"/>
  <xsl:param name="key"/>
  <xsl:variable name="program" select="/program"/>

  <xsl:template match="/program">
    <xsl:value-of select="concat('program ', @name, ' (', $key, ')&#10;')"/>
    <xsl:apply-templates select="use"/>
    <xsl:apply-templates select="field"/>
    <xsl:apply-templates select="use" mode="cross-reference"/>
    <xsl:value-of select="concat('end: ', count(field), ' fields, ', count(.//constant), ' constants&#10;')"/>
  </xsl:template>

  <xsl:template match="use">
    <xsl:variable name="unit" select="document(concat('unit/', @unit))/unit"/>
    <xsl:value-of select="concat('uses ', @unit, ': ', count($unit/constant), ' constants, sum ')"/>
    <xsl:value-of select="format-number(sum($unit/constant/@value), '0.00')"/>
    <xsl:text>&#10;</xsl:text>
  </xsl:template>

  <xsl:template match="field">
    <xsl:variable name="type"><xsl:apply-templates select="*" mode="type"/></xsl:variable>
    <xsl:variable name="value"><xsl:apply-templates select="*" mode="value"/></xsl:variable>
    <xsl:number format="001 "/>
    <xsl:value-of select="concat('field ', @name, ' ', $type, '&#10;')"/>
    <xsl:apply-templates select="*" mode="code"/>
    <xsl:value-of select="concat('    store ', @name, ' ; ', format-number($value, '0.0000'), '&#10;')"/>
  </xsl:template>

  <!-- What a constant is, in the unit that says it. -->
  <xsl:template match="constant" mode="type">
    <xsl:variable name="name" select="@name"/>
    <xsl:value-of select="document(concat('unit/', @unit))/unit/constant[@name = $name]/@type"/>
  </xsl:template>

  <xsl:template match="constant" mode="value">
    <xsl:variable name="name" select="@name"/>
    <xsl:value-of select="document(concat('unit/', @unit))/unit/constant[@name = $name]/@value"/>
  </xsl:template>

  <xsl:template match="constant" mode="code">
    <xsl:value-of select="concat('    push ', @unit, '.', @name, '&#10;')"/>
  </xsl:template>

  <!-- An earlier field. -->
  <xsl:template match="read" mode="type">
    <xsl:variable name="name" select="@field"/>
    <xsl:apply-templates select="$program/field[@name = $name]/*" mode="type"/>
  </xsl:template>

  <xsl:template match="read" mode="value">
    <xsl:variable name="name" select="@field"/>
    <xsl:apply-templates select="$program/field[@name = $name]/*" mode="value"/>
  </xsl:template>

  <xsl:template match="read" mode="code">
    <xsl:value-of select="concat('    load ', @field, '&#10;')"/>
  </xsl:template>

  <!-- An operation is decimal if either operand is. -->
  <xsl:template match="sum | difference | product" mode="type">
    <xsl:variable name="left"><xsl:apply-templates select="*[1]" mode="type"/></xsl:variable>
    <xsl:variable name="right"><xsl:apply-templates select="*[2]" mode="type"/></xsl:variable>
    <xsl:choose>
      <xsl:when test="$left = 'decimal' or $right = 'decimal'">decimal</xsl:when>
      <xsl:otherwise>integer</xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template match="sum | difference | product" mode="value">
    <xsl:variable name="left"><xsl:apply-templates select="*[1]" mode="value"/></xsl:variable>
    <xsl:variable name="right"><xsl:apply-templates select="*[2]" mode="value"/></xsl:variable>
    <xsl:choose>
      <xsl:when test="self::sum"><xsl:value-of select="$left + $right"/></xsl:when>
      <xsl:when test="self::difference"><xsl:value-of select="$left - $right"/></xsl:when>
      <!-- Kept small, as a machine with few digits would. -->
      <xsl:otherwise><xsl:value-of select="round($left * $right * 100) mod 1000000 div 100"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template match="sum | difference | product" mode="code">
    <xsl:apply-templates select="*" mode="code"/>
    <xsl:value-of select="concat('    ', local-name(), '&#10;')"/>
  </xsl:template>

  <!-- Where each constant of a unit is used. -->
  <xsl:template match="use" mode="cross-reference">
    <xsl:variable name="unit" select="@unit"/>
    <xsl:for-each select="document(concat('unit/', @unit))/unit/constant">
      <xsl:sort select="@value" data-type="number" order="descending"/>
      <xsl:sort select="@name"/>
      <xsl:variable name="name" select="@name"/>
      <xsl:variable name="uses" select="$program//constant[@unit = $unit and @name = $name]"/>
      <xsl:if test="$uses">
        <xsl:value-of select="concat($unit, '.', $name, ' ', format-number(@value, '#,##0.00'), ':')"/>
        <xsl:for-each select="$uses/ancestor::field">
          <xsl:value-of select="concat(' ', @name)"/>
        </xsl:for-each>
        <xsl:text>&#10;</xsl:text>
      </xsl:if>
    </xsl:for-each>
  </xsl:template>
</xsl:stylesheet>
