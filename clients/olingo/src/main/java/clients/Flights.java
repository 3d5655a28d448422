// Apache Olingo's V4 client reads the flights, and writes bookings and records.
//
// Usage: java -cp 'target/classes:target/lib/*' clients.Flights GATEWAY      after `mvn compile`
//
// What it deliberately does not do: check every option of OData, which the crates' own tests do.
package clients;

import java.math.BigDecimal;
import java.net.URI;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
import org.apache.olingo.client.api.ODataClient;
import org.apache.olingo.client.api.communication.ODataClientErrorException;
import org.apache.olingo.client.api.communication.request.batch.BatchManager;
import org.apache.olingo.client.api.communication.request.batch.ODataBatchRequest;
import org.apache.olingo.client.api.communication.request.batch.ODataBatchResponseItem;
import org.apache.olingo.client.api.communication.request.batch.ODataChangeset;
import org.apache.olingo.client.api.communication.request.cud.UpdateType;
import org.apache.olingo.client.api.communication.response.ODataBatchResponse;
import org.apache.olingo.client.api.communication.response.ODataEntityCreateResponse;
import org.apache.olingo.client.api.domain.ClientEntity;
import org.apache.olingo.client.api.domain.ClientEntitySet;
import org.apache.olingo.client.api.domain.ClientInlineEntity;
import org.apache.olingo.client.api.domain.ClientInlineEntitySet;
import org.apache.olingo.client.api.domain.ClientObjectFactory;
import org.apache.olingo.client.api.uri.FilterArgFactory;
import org.apache.olingo.client.api.uri.FilterFactory;
import org.apache.olingo.client.api.uri.QueryOption;
import org.apache.olingo.client.api.uri.URIBuilder;
import org.apache.olingo.client.core.ODataClientFactory;
import org.apache.olingo.commons.api.edm.Edm;
import org.apache.olingo.commons.api.edm.EdmEntityType;
import org.apache.olingo.commons.api.edm.EdmPrimitiveTypeKind;
import org.apache.olingo.commons.api.edm.FullQualifiedName;
import org.apache.olingo.commons.api.format.ContentType;

public final class Flights {
  private static final int FLIGHTS = 400;
  private static final FullQualifiedName BOOKING = new FullQualifiedName("RMTSAMPLEFLIGHT", "Booking");
  private static final FullQualifiedName RECORD = new FullQualifiedName("refsvc", "TestRecords");

  private final String flights;
  private final String records;
  private final ODataClient client = ODataClientFactory.getClient();
  private final ClientObjectFactory objects = client.getObjectFactory();
  private final Session session = new Session();

  private Flights(String gateway) {
    flights = gateway + "/odata/v4/flights";
    records = gateway + "/odata/v4/refsvc";
    client.getConfiguration().setDefaultPubFormat(ContentType.JSON);
    client.getConfiguration().setHttpClientFactory(session);
  }

  private void theMetadataTellsTypesAndKeys() {
    // A metadata request would also fetch the vocabularies that the document refers to, from their own addresses.
    var document = client.getRetrieveRequestFactory().getRawRequest(URI.create(flights + "/$metadata"));
    document.setFormat("application/xml");
    Edm edm = client.getReader().readMetadata(document.execute().getRawResponse());
    EdmEntityType flight = edm.getEntityType(new FullQualifiedName("RMTSAMPLEFLIGHT", "Flight"));
    equal(flight.getKeyPredicateNames(), List.of("carrid", "connid", "fldate"));
    equal(flight.getProperty("fldate").getType().getName(), "Date");
    equal(flight.getNavigationProperty("flightBookings").isCollection(), true);
    equal(edm.getEntityContainer().getEntitySet("FlightCollection").getEntityType(), flight);
    var sets = client.getRetrieveRequestFactory().getServiceDocumentRequest(flights).execute().getBody().getEntitySetNames();
    check(sets.contains("BookingCollection"), sets.toString());
  }

  private void everyLevelOfMetadataIsRead() {
    for (ContentType format : List.of(ContentType.JSON, ContentType.JSON_FULL_METADATA, ContentType.JSON_NO_METADATA)) {
      var request = client.getRetrieveRequestFactory().getEntityRequest(flight());
      request.setFormat(format);
      ClientEntity flight = request.execute().getBody();
      equal(text(flight, "PRICE"), "422.94");
      equal(text(flight, "fldate"), "2011-06-01");
    }
  }

  private void everyFlightIsReadOnceOverAllPages() {
    URI next = uri(flights, "FlightCollection").select("carrid", "connid", "fldate").build();
    Set<String> keys = new HashSet<>();
    while (next != null) {
      var request = client.getRetrieveRequestFactory().getEntitySetRequest(next);
      request.setPrefer("odata.maxpagesize=150");
      ClientEntitySet page = request.execute().getBody();
      check(page.getEntities().size() <= 150, page.getEntities().size() + " on a page");
      page.getEntities().forEach(one -> keys.add(text(one, "carrid") + text(one, "connid") + text(one, "fldate")));
      next = page.getNext();
    }
    equal(keys.size(), FLIGHTS);
  }

  private void aListIsReadWithoutBeingHeld() {
    var list = client.getRetrieveRequestFactory().getEntitySetIteratorRequest(uri(flights, "FlightCollection").build());
    int count = 0;
    for (var flight = list.execute().getBody(); flight.hasNext(); count += 1) {
      check(text(flight.next(), "carrid") != null, "it has a key");
    }
    equal(count, FLIGHTS);
  }

  private void anOrderAPageAndACountGoTogether() {
    FilterFactory filters = client.getFilterFactory();
    URI uri =
        uri(flights, "FlightCollection")
            .filter(filters.and(filters.eq("carrid", "AA"), filters.gt("SEATSOCC", 300)))
            .orderBy("PRICE desc,fldate")
            .top(5)
            .skip(1)
            .count(true)
            .build();
    ClientEntitySet found = read(uri);
    equal(found.getEntities().size(), 5);
    check(found.getCount() > 5, found.getCount() + " in all");
    found.getEntities().forEach(one -> equal(text(one, "carrid"), "AA"));
  }

  private void everyFunctionOfAFilterIsUnderstood() {
    FilterFactory filters = client.getFilterFactory();
    FilterArgFactory args = filters.getArgFactory();
    var name = args.property("CARRNAME");
    var american = args.literal("American Airlines");
    for (var filter :
        List.of(
            filters.match(args.contains(name, args.literal("merican"))),
            filters.match(args.startswith(name, args.literal("American"))),
            filters.and(filters.eq("carrid", "AA"), filters.match(args.endswith(name, args.literal("Airlines")))),
            filters.eq(args.toupper(name), args.literal("AMERICAN AIRLINES")),
            filters.eq(args.tolower(name), args.literal("american airlines")),
            filters.eq(args.trim(args.concat(name, args.literal(" "))), american),
            filters.and(filters.eq(args.length(name), args.literal(17)), filters.eq(name, american)),
            filters.eq(args.indexof(name, args.literal("merican Air")), args.literal(1)),
            filters.eq(args.substring(name, args.literal(0), args.literal(8)), args.literal("American")),
            filters.not(filters.ne(name, american)),
            filters.and(
                filters.eq("carrid", "AA"),
                filters.match(args.any(args.property("carrierFlights"), "f", filters.gt("f/SEATSMAX", 100)))),
            filters.and(
                filters.eq("carrid", "AA"),
                filters.match(args.all(args.property("carrierFlights"), "f", filters.ge("f/SEATSMAX", 0)))))) {
      ClientEntitySet found = read(uri(flights, "CarrierCollection").filter(filter).build());
      List<String> carriers = found.getEntities().stream().map(one -> text(one, "carrid")).toList();
      equal(filter.build() + " finds " + carriers, filter.build() + " finds [AA]");
    }
    for (var filter :
        List.of(
            filters.eq(args.year(args.property("fldate")), args.literal(2011)),
            filters.eq(args.month(args.property("fldate")), args.literal(6)),
            filters.eq(args.day(args.property("fldate")), args.literal(1)),
            filters.gt(args.mul(args.property("SEATSMAX"), args.literal(2)), args.literal(300)),
            filters.lt(args.add(args.property("SEATSMAX"), args.property("SEATSOCC")), args.literal(1000)),
            filters.eq(args.floor(args.property("PRICE")), args.literal(422)),
            filters.eq(args.ceiling(args.property("PRICE")), args.literal(423)),
            filters.eq(args.round(args.property("PRICE")), args.literal(423)),
            filters.eq(args.property("flightDetails/cityTo"), args.literal("SAN FRANCISCO")),
            filters.eq(args.hour(args.property("flightDetails/departureTime")), args.literal(11)))) {
      check(!read(uri(flights, "FlightCollection").filter(filter).top(1).build()).getEntities().isEmpty(), filter.build());
    }
  }

  private void anExpandHasOptionsOfItsOwn() {
    Map<QueryOption, Object> options = new LinkedHashMap<>();
    options.put(QueryOption.SELECT, "bookid,PASSNAME");
    options.put(QueryOption.FILTER, "CLASS eq 'Y'");
    options.put(QueryOption.ORDERBY, "bookid desc");
    options.put(QueryOption.TOP, 2);
    URI uri =
        uri(flights, "FlightCollection")
            .appendKeySegment(key())
            .expandWithOptions("flightBookings", options)
            .build();
    ClientEntity flight = linked(uri);
    var bookings = ((ClientInlineEntitySet) flight.getNavigationLink("flightBookings")).getEntitySet().getEntities();
    equal(bookings.size(), 2);
    check(text(bookings.get(0), "bookid").compareTo(text(bookings.get(1), "bookid")) > 0, "the last one first");
    URI carrier = uri(flights, "FlightCollection").appendKeySegment(key()).expandWithSelect("FlightCarrier", "CARRNAME").build();
    flight = linked(carrier);
    equal(text(((ClientInlineEntity) flight.getNavigationLink("FlightCarrier")).getEntity(), "CARRNAME"), "American Airlines");
  }

  private void propertiesValuesCountsAndSearchesAreRead() {
    var retrieve = client.getRetrieveRequestFactory();
    var price = uri(flights, "FlightCollection").appendKeySegment(key()).appendPropertySegment("PRICE");
    equal(retrieve.getPropertyRequest(price.build()).execute().getBody().getPrimitiveValue().toString(), "422.94");
    var raw = retrieve.getPropertyValueRequest(price.appendValueSegment().build());
    raw.setFormat(ContentType.TEXT_PLAIN);
    equal(raw.execute().getBody().toString(), "422.94");
    var details = uri(flights, "FlightCollection").appendKeySegment(key()).appendPropertySegment("flightDetails").build();
    var city = retrieve.getPropertyRequest(details).execute().getBody().getComplexValue().get("cityTo");
    equal(city.getPrimitiveValue().toString(), "SAN FRANCISCO");
    var count = retrieve.getValueRequest(uri(flights, "FlightCollection").appendCountSegment().build());
    count.setFormat(ContentType.TEXT_PLAIN);
    equal(count.execute().getBody().toString(), String.valueOf(FLIGHTS));
    equal(read(uri(flights, "CarrierCollection").search("American").build()).getEntities().size(), 1);
    var below = uri(flights, "CarrierCollection").appendKeySegment("AA").appendNavigationSegment("carrierFlights").top(3).build();
    equal(read(below).getEntities().size(), 3);
  }

  private void aBookingIsCreatedChangedAndDeletedByItsETag() {
    String number = String.format("7%07d", System.currentTimeMillis() % 10_000_000);
    var create = client.getCUDRequestFactory().getEntityCreateRequest(uri(flights, "BookingCollection").build(), booking(number));
    ODataEntityCreateResponse<ClientEntity> created = session.allowed(client, flights, create).execute();
    equal(created.getStatusCode(), 201);
    ClientEntity booking = created.getBody();
    equal(booking.getETag(), "W/\"2011-05-01\"");
    equal(text(booking, "PASSNAME"), "Zoë O'Hara");
    URI where = uri(flights, "BookingCollection").appendKeySegment(bookingKey(booking)).build();
    equal(created.getHeader("Location").iterator().next(), where.toString());

    for (UpdateType type : List.of(UpdateType.PATCH, UpdateType.REPLACE)) {
      ClientEntity change = type == UpdateType.PATCH ? objects.newEntity(BOOKING) : booking(number);
      change.getProperties().removeIf(property -> property.getName().equals("ORDER_DATE"));
      day(change, "ORDER_DATE", 2011, 5, type == UpdateType.PATCH ? 2 : 3);
      var update = client.getCUDRequestFactory().getEntityUpdateRequest(where, type, change);
      update.setIfMatch(client.getRetrieveRequestFactory().getEntityRequest(where).execute().getBody().getETag());
      var updated = session.allowed(client, flights, update).execute();
      check(updated.getStatusCode() == 204 || updated.getStatusCode() == 200, "status " + updated.getStatusCode());
    }
    ClientEntity now = client.getRetrieveRequestFactory().getEntityRequest(where).execute().getBody();
    equal(now.getETag(), "W/\"2011-05-03\"");
    equal(text(now, "PASSNAME"), "Zoë O'Hara");

    var late = client.getCUDRequestFactory().getEntityUpdateRequest(where, UpdateType.PATCH, objects.newEntity(BOOKING));
    late.setIfMatch(booking.getETag());
    equal(refused(() -> session.allowed(client, flights, late).execute()).getStatusLine().getStatusCode(), 412);

    var delete = client.getCUDRequestFactory().getDeleteRequest(where);
    delete.setIfMatch(now.getETag());
    equal(session.allowed(client, flights, delete).execute().getStatusCode(), 204);
    var gone = refused(() -> client.getRetrieveRequestFactory().getEntityRequest(where).execute());
    equal(gone.getStatusLine().getStatusCode(), 404);
    check(gone.getODataError().getMessage() != null, "the reason is told");
  }

  private void aRecordOfAllTypesComesBackAsItWasSent() {
    ClientEntity sent = objects.newEntity(RECORD);
    UUID id = UUID.randomUUID();
    property(sent, "ID", EdmPrimitiveTypeKind.Guid, id);
    property(sent, "stringField", EdmPrimitiveTypeKind.String, "Zoë 'quoted' \"twice\" 漢字 🚀");
    property(sent, "booleanField", EdmPrimitiveTypeKind.Boolean, true);
    property(sent, "integerField", EdmPrimitiveTypeKind.Int32, Integer.MIN_VALUE);
    property(sent, "integer64Field", EdmPrimitiveTypeKind.Int64, Long.MAX_VALUE);
    property(sent, "decimalField", EdmPrimitiveTypeKind.Decimal, new BigDecimal("12345678901234.5678"));
    property(sent, "doubleField", EdmPrimitiveTypeKind.Double, 1.5e-7);
    day(sent, "dateField", 2024, 2, 29);
    property(sent, "dateTimeField", EdmPrimitiveTypeKind.DateTimeOffset, Timestamp.from(Instant.parse("2024-02-29T23:59:59Z")));
    var create = client.getCUDRequestFactory().getEntityCreateRequest(uri(records, "TestRecords").build(), sent);
    session.allowed(client, records, create).execute();
    URI where = uri(records, "TestRecords").appendKeySegment(id).build();
    var read = client.getRetrieveRequestFactory().getEntityRequest(where);
    // Olingo reads JSON's numbers as doubles; asked so, long and decimal ones come as strings.
    read.setFormat(ContentType.create(ContentType.JSON_FULL_METADATA, ContentType.PARAMETER_IEEE754_COMPATIBLE, "true"));
    ClientEntity found = read.execute().getBody();
    for (var property : sent.getProperties()) {
      String name = property.getName();
      var value = found.getProperty(name).getPrimitiveValue().toValue();
      if (value instanceof Timestamp instant) equal(instant.toInstant(), Instant.parse("2024-02-29T23:59:59Z"));
      else equal(text(found, name), property.getPrimitiveValue().toString());
    }
    var delete = client.getCUDRequestFactory().getDeleteRequest(where);
    equal(session.allowed(client, records, delete).execute().getStatusCode(), 204);
  }

  private void aBatchReadsAndItsChangeSetIsStoredAsOne() {
    for (boolean right : new boolean[] {true, false}) {
      String mark = "olingo " + UUID.randomUUID();
      URI marked = uri(records, "TestRecords").filter(client.getFilterFactory().eq("stringField", mark)).build();
      ODataBatchRequest request = client.getBatchRequestFactory().getBatchRequest(records);
      BatchManager batch = session.allowed(client, records, request).payloadManager();
      batch.addRequest(client.getRetrieveRequestFactory().getEntitySetRequest(marked));
      ODataChangeset changes = batch.addChangeset();
      for (int number = 1; number <= 2; number += 1) {
        ClientEntity record = objects.newEntity(RECORD);
        property(record, "stringField", EdmPrimitiveTypeKind.String, mark);
        if (number == 2 && !right) property(record, "integerField", EdmPrimitiveTypeKind.String, "many");
        else property(record, "integerField", EdmPrimitiveTypeKind.Int32, number);
        changes.addRequest(client.getCUDRequestFactory().getEntityCreateRequest(uri(records, "TestRecords").build(), record));
      }
      batch.addRequest(client.getRetrieveRequestFactory().getEntitySetRequest(marked));
      ODataBatchResponse response = batch.getResponse();
      equal(response.getStatusCode(), 200);
      List<Integer> statuses = new ArrayList<>();
      for (Iterator<ODataBatchResponseItem> items = response.getBody(); items.hasNext(); ) {
        ODataBatchResponseItem item = items.next();
        while (item.hasNext()) statuses.add(item.next().getStatusCode());
        item.close();
      }
      equal(statuses, right ? List.of(200, 201, 201, 200) : List.of(200, 400));
      List<ClientEntity> stored = read(marked).getEntities();
      equal(stored.size(), right ? 2 : 0);
      for (ClientEntity record : stored) {
        URI where = uri(records, "TestRecords").appendKeySegment(UUID.fromString(text(record, "ID"))).build();
        session.allowed(client, records, client.getCUDRequestFactory().getDeleteRequest(where)).execute();
      }
    }
  }

  private URIBuilder uri(String service, String set) {
    return client.newURIBuilder(service).appendEntitySetSegment(set);
  }

  private static Map<String, Object> key() {
    Map<String, Object> key = new LinkedHashMap<>();
    key.put("carrid", "AA");
    key.put("connid", "0017");
    key.put("fldate", LocalDate.of(2011, 6, 1)); // a Calendar would be written as an instant
    return key;
  }

  private URI flight() {
    return uri(flights, "FlightCollection").appendKeySegment(key()).build();
  }

  private static Map<String, Object> bookingKey(ClientEntity booking) {
    Map<String, Object> key = key();
    key.put("bookid", text(booking, "bookid"));
    return key;
  }

  private ClientEntity booking(String number) {
    ClientEntity booking = objects.newEntity(BOOKING);
    property(booking, "carrid", EdmPrimitiveTypeKind.String, "AA");
    property(booking, "connid", EdmPrimitiveTypeKind.String, "0017");
    day(booking, "fldate", 2011, 6, 1);
    property(booking, "bookid", EdmPrimitiveTypeKind.String, number);
    property(booking, "PASSNAME", EdmPrimitiveTypeKind.String, "Zoë O'Hara");
    property(booking, "LUGGWEIGHT", EdmPrimitiveTypeKind.Decimal, new BigDecimal("12.5"));
    day(booking, "ORDER_DATE", 2011, 5, 1);
    return booking;
  }

  private ClientEntitySet read(URI uri) {
    return client.getRetrieveRequestFactory().getEntitySetRequest(uri).execute().getBody();
  }

  /** An entity with its links: without them Olingo takes what is expanded for properties of complex types. */
  private ClientEntity linked(URI uri) {
    var request = client.getRetrieveRequestFactory().getEntityRequest(uri);
    request.setFormat(ContentType.JSON_FULL_METADATA);
    return request.execute().getBody();
  }

  private void property(ClientEntity entity, String name, EdmPrimitiveTypeKind type, Object value) {
    var primitive = objects.newPrimitiveValueBuilder().setType(type).setValue(value).build();
    entity.getProperties().add(objects.newPrimitiveProperty(name, primitive));
  }

  private void day(ClientEntity entity, String name, int year, int month, int day) {
    property(entity, name, EdmPrimitiveTypeKind.Date, calendar(year, month, day));
  }

  private static Calendar calendar(int year, int month, int day) {
    Calendar calendar = Calendar.getInstance(TimeZone.getTimeZone("UTC"));
    calendar.clear();
    calendar.set(year, month - 1, day);
    return calendar;
  }

  private static String text(ClientEntity entity, String name) {
    return entity.getProperty(name).getPrimitiveValue().toString();
  }

  private static void equal(Object found, Object expected) {
    check(Objects.equals(found, expected), found + ", not " + expected);
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new IllegalStateException(what);
  }

  private static ODataClientErrorException refused(Runnable attempt) {
    try {
      attempt.run();
    } catch (ODataClientErrorException error) {
      return error;
    }
    throw new IllegalStateException("it was not refused");
  }

  public static void main(String[] arguments) {
    if (arguments.length != 1) {
      System.err.println("usage: clients.Flights GATEWAY");
      System.exit(2);
    }
    Flights flights = new Flights(arguments[0]);
    Map<String, Runnable> sentences = new LinkedHashMap<>();
    sentences.put("the metadata tells types and keys", flights::theMetadataTellsTypesAndKeys);
    sentences.put("every level of metadata is read", flights::everyLevelOfMetadataIsRead);
    sentences.put("every flight is read once over all pages", flights::everyFlightIsReadOnceOverAllPages);
    sentences.put("a list is read without being held", flights::aListIsReadWithoutBeingHeld);
    sentences.put("an order, a page and a count go together", flights::anOrderAPageAndACountGoTogether);
    sentences.put("every function of a filter is understood", flights::everyFunctionOfAFilterIsUnderstood);
    sentences.put("an expand has options of its own", flights::anExpandHasOptionsOfItsOwn);
    sentences.put("properties, values, counts and searches are read", flights::propertiesValuesCountsAndSearchesAreRead);
    sentences.put("a booking is created, changed and deleted by its ETag", flights::aBookingIsCreatedChangedAndDeletedByItsETag);
    sentences.put("a record of all types comes back as it was sent", flights::aRecordOfAllTypesComesBackAsItWasSent);
    sentences.put("a batch reads, and its change set is stored as one", flights::aBatchReadsAndItsChangeSetIsStoredAsOne);
    int failed = 0;
    for (var sentence : sentences.entrySet()) {
      try {
        sentence.getValue().run();
        System.out.println("ok " + sentence.getKey());
      } catch (RuntimeException error) {
        failed += 1;
        System.out.println("FAILED " + sentence.getKey());
        error.printStackTrace(System.out);
      }
    }
    System.out.println((sentences.size() - failed) + " passed, " + failed + " failed");
    System.exit(failed == 0 ? 0 : 1);
  }
}
