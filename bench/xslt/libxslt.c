/* How fast libxml2 and libxslt do what `cargo run --example speed` does: the same messages out of a folder, in a loop,
 * with the same output form. Build: cc -O2 libxslt.c $(xml2-config --cflags --libs) -lxslt. Measures only. */
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <libxslt/transform.h>
#include <libxslt/xsltInternals.h>
#include <libxslt/xsltutils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct file { char *bytes; int length; };

static struct file read_file(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "rb");
    if (!stream) { perror(path); exit(1); }
    fseek(stream, 0, SEEK_END);
    struct file file = { NULL, (int)ftell(stream) };
    rewind(stream);
    file.bytes = malloc((size_t)file.length + 1);
    if (fread(file.bytes, 1, (size_t)file.length, stream) != (size_t)file.length) exit(1);
    file.bytes[file.length] = 0;
    fclose(stream);
    return file;
}

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static xmlDocPtr parse(struct file file) {
    xmlDocPtr document = xmlReadMemory(file.bytes, file.length, "m", NULL, XML_PARSE_NONET);
    if (!document) exit(1);
    return document;
}

static struct file quote, subject;
static xmlXPathCompExprPtr expression;
static xsltStylesheetPtr stylesheet;
static int stylesheet_output_bytes;

static void do_parse(void) { xmlFreeDoc(parse(quote)); }

static void do_xpath(void) {
    xmlDocPtr document = parse(quote);
    xmlXPathContextPtr context = xmlXPathNewContext(document);
    xmlXPathRegisterNs(context, (const xmlChar *)"m0", (const xmlChar *)"http://services.samples");
    if (xmlXPathCompiledEvalToBoolean(expression, context) != 1) exit(1);
    xmlXPathFreeContext(context);
    xmlFreeDoc(document);
}

static void do_transform(void) {
    xmlDocPtr document = parse(subject);
    xmlDocPtr result = xsltApplyStylesheet(stylesheet, document, NULL);
    xmlChar *text;
    int length;
    if (!result || xsltSaveResultToString(&text, &length, result, stylesheet) != 0) exit(1);
    stylesheet_output_bytes = length;
    xmlFree(text);
    xmlFreeDoc(result);
    xmlFreeDoc(document);
}

static void measure(const char *name, double seconds, void (*work)(void)) {
    work();
    double begin = cpu_s(), now;
    long count = 0;
    do {
        work();
        count++;
        now = cpu_s();
    } while (now - begin < seconds);
    printf("%s %.3f\n", name, (now - begin) / (double)count * 1e6);
}

static void transform(const char *folder, const char *name, const char *sheet, const char *input, double seconds) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, sheet);
    stylesheet = xsltParseStylesheetFile((const xmlChar *)path);
    if (!stylesheet) exit(1);
    subject = read_file(folder, input);
    measure(name, seconds, do_transform);
    xsltFreeStylesheet(stylesheet);
    free(subject.bytes);
}

int main(int argc, char **argv) {
    if (argc != 3) { fprintf(stderr, "usage: %s FOLDER SECONDS\n", argv[0]); return 2; }
    const char *folder = argv[1];
    double seconds = atof(argv[2]);
    xmlInitParser();
    quote = read_file(folder, "get-quote.xml");
    expression = xmlXPathCompile((const xmlChar *)"//m0:getQuote/m0:request/m0:symbol = 'IBM'");
    measure("parse", seconds, do_parse);
    measure("xpath", seconds, do_xpath);
    transform(folder, "request", "request.xsl", "check-price.xml", seconds);
    transform(folder, "response", "response.xsl", "quote.xml", seconds);
    transform(folder, "records", "records.xsl", "records.xml", seconds);
    return 0;
}
