// Flights and their bookings on Apache Olingo's server library, from memory: the peer of bench/odata/compare.py.
//
//   java -cp target/classes:target/lib/* Flights FOLDER
//
// FOLDER holds FlightCollection.csv and BookingCollection.csv, whose first lines are names and second lines EDM types.
// $filter with comparisons, and, or; $orderby by properties; $top, $skip, $count, $select; $expand of bookings. The HTTP
// server is the JDK's, so that what is measured is the library and little else.

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.apache.olingo.commons.api.data.ContextURL;
import org.apache.olingo.commons.api.data.Entity;
import org.apache.olingo.commons.api.data.EntityCollection;
import org.apache.olingo.commons.api.data.Link;
import org.apache.olingo.commons.api.data.Property;
import org.apache.olingo.commons.api.data.ValueType;
import org.apache.olingo.commons.api.edm.EdmEntitySet;
import org.apache.olingo.commons.api.edm.EdmEnumType;
import org.apache.olingo.commons.api.edm.EdmPrimitiveTypeKind;
import org.apache.olingo.commons.api.edm.EdmType;
import org.apache.olingo.commons.api.edm.FullQualifiedName;
import org.apache.olingo.commons.api.edm.provider.*;
import org.apache.olingo.commons.api.format.ContentType;
import org.apache.olingo.commons.api.http.HttpMethod;
import org.apache.olingo.commons.core.edm.primitivetype.EdmDate;
import org.apache.olingo.server.api.OData;
import org.apache.olingo.server.api.ODataApplicationException;
import org.apache.olingo.server.api.ODataHandler;
import org.apache.olingo.server.api.ODataLibraryException;
import org.apache.olingo.server.api.ODataRequest;
import org.apache.olingo.server.api.ODataResponse;
import org.apache.olingo.server.api.ServiceMetadata;
import org.apache.olingo.server.api.processor.EntityCollectionProcessor;
import org.apache.olingo.server.api.serializer.EntityCollectionSerializerOptions;
import org.apache.olingo.server.api.uri.UriInfo;
import org.apache.olingo.server.api.uri.UriResourceEntitySet;
import org.apache.olingo.server.api.uri.UriResourceProperty;
import org.apache.olingo.server.api.uri.queryoption.FilterOption;
import org.apache.olingo.server.api.uri.queryoption.OrderByItem;
import org.apache.olingo.server.api.uri.queryoption.expression.*;

public final class Flights {
    static final String NAMESPACE = "RMTSAMPLEFLIGHT";
    static final FullQualifiedName CONTAINER = new FullQualifiedName(NAMESPACE, "Container");
    static final String BOOKINGS = "flightBookings";

    /** Rows of one set, with the names and types of their properties. */
    record Table(String name, int keys, List<String> names, List<EdmPrimitiveTypeKind> types, List<Entity> rows) {
        FullQualifiedName type() {
            return new FullQualifiedName(NAMESPACE, name.replace("Collection", ""));
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        Table flights = read(folder, "FlightCollection", 3);
        Table bookings = read(folder, "BookingCollection", 4);
        relate(flights, bookings);
        Map<String, Table> tables = Map.of(flights.name, flights, bookings.name, bookings);
        OData odata = OData.newInstance();
        ServiceMetadata metadata = odata.createServiceMetadata(new Model(tables), new ArrayList<>());
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        HttpServer server = HttpServer.create(new InetSocketAddress(loopback, 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/odata/v4/flights/", exchange -> answer(odata, metadata, tables, exchange));
        server.start();
        System.out.println("listening http://127.0.0.1:" + server.getAddress().getPort());
    }

    static void answer(OData odata, ServiceMetadata metadata, Map<String, Table> tables, HttpExchange exchange)
            throws IOException {
        try (exchange) {
            ODataRequest request = new ODataRequest();
            request.setMethod(HttpMethod.valueOf(exchange.getRequestMethod()));
            String root = exchange.getHttpContext().getPath();
            String path = exchange.getRequestURI().getRawPath().substring(root.length() - 1);
            String query = exchange.getRequestURI().getRawQuery();
            request.setRawBaseUri(root.substring(0, root.length() - 1));
            request.setRawODataPath(path);
            request.setRawQueryPath(query);
            request.setRawRequestUri(root.substring(0, root.length() - 1) + path + (query == null ? "" : "?" + query));
            exchange.getRequestHeaders().forEach((name, values) -> request.addHeader(name, values));
            ODataHandler handler = odata.createRawHandler(metadata);
            handler.register(new Sets(tables));
            ODataResponse response = handler.process(request);
            response.getAllHeaders().forEach((name, values) -> exchange.getResponseHeaders().put(name, values));
            byte[] body = response.getContent() == null ? new byte[0] : response.getContent().readAllBytes();
            exchange.sendResponseHeaders(response.getStatusCode(), body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    static Table read(Path folder, String name, int keys) throws IOException {
        try (Stream<String> lines = Files.lines(folder.resolve(name + ".csv"))) {
            List<String[]> cells = lines.map(line -> line.split("\t", -1)).toList();
            List<String> names = List.of(cells.get(0));
            List<EdmPrimitiveTypeKind> types = Arrays.stream(cells.get(1)).map(EdmPrimitiveTypeKind::valueOf).toList();
            List<Entity> rows = new ArrayList<>();
            for (String[] row : cells.subList(2, cells.size())) {
                Entity entity = new Entity();
                for (int index = 0; index < row.length; index++) {
                    Object value = row[index].isEmpty() ? null : value(types.get(index), row[index]);
                    entity.addProperty(new Property(null, names.get(index), ValueType.PRIMITIVE, value));
                }
                rows.add(entity);
            }
            return new Table(name, keys, names, types, rows);
        }
    }

    static Object value(EdmPrimitiveTypeKind type, String text) {
        return switch (type) {
            case Int32, Int64, Byte -> Integer.valueOf(text);
            case Decimal -> new BigDecimal(text);
            case Date -> java.sql.Date.valueOf(text);
            default -> text;
        };
    }

    static String key(Entity entity) {
        List<String> key = new ArrayList<>();
        entity.getProperties().subList(0, 3).forEach(property -> key.add(String.valueOf(property.getValue())));
        return String.join("|", key);
    }

    static void relate(Table flights, Table bookings) {
        Map<String, EntityCollection> byFlight = new HashMap<>();
        for (Entity booking : bookings.rows) {
            byFlight.computeIfAbsent(key(booking), key -> new EntityCollection()).getEntities().add(booking);
        }
        for (Entity flight : flights.rows) {
            Link link = new Link();
            link.setTitle(BOOKINGS);
            link.setInlineEntitySet(byFlight.getOrDefault(key(flight), new EntityCollection()));
            flight.getNavigationLinks().add(link);
        }
    }

    /** The model of the tables. */
    static final class Model extends CsdlAbstractEdmProvider {
        final Map<String, Table> tables;

        Model(Map<String, Table> tables) {
            this.tables = tables;
        }

        CsdlEntityType type(Table table) {
            List<CsdlProperty> properties = new ArrayList<>();
            List<CsdlPropertyRef> keys = new ArrayList<>();
            for (int index = 0; index < table.names.size(); index++) {
                CsdlProperty property = new CsdlProperty().setName(table.names.get(index));
                property.setType(table.types.get(index).getFullQualifiedName());
                if (table.types.get(index) == EdmPrimitiveTypeKind.Decimal) {
                    property.setPrecision(17).setScale(4);
                }
                properties.add(property.setNullable(index >= table.keys));
                if (index < table.keys) {
                    keys.add(new CsdlPropertyRef().setName(table.names.get(index)));
                }
            }
            CsdlEntityType type = new CsdlEntityType().setName(table.type().getName()).setProperties(properties).setKey(keys);
            if (table.name.equals("FlightCollection")) {
                FullQualifiedName booking = new FullQualifiedName(NAMESPACE, "Booking");
                type.setNavigationProperties(
                        List.of(new CsdlNavigationProperty().setName(BOOKINGS).setType(booking).setCollection(true)));
            }
            return type;
        }

        @Override
        public CsdlEntityType getEntityType(FullQualifiedName name) {
            return tables.values().stream().filter(table -> table.type().equals(name)).findFirst().map(this::type).orElse(null);
        }

        @Override
        public CsdlEntitySet getEntitySet(FullQualifiedName container, String name) {
            Table table = tables.get(name);
            if (table == null) {
                return null;
            }
            CsdlEntitySet set = new CsdlEntitySet().setName(name).setType(table.type());
            if (name.equals("FlightCollection")) {
                set.setNavigationPropertyBindings(List.of(
                        new CsdlNavigationPropertyBinding().setPath(BOOKINGS).setTarget("BookingCollection")));
            }
            return set;
        }

        @Override
        public CsdlEntityContainer getEntityContainer() {
            List<CsdlEntitySet> sets = tables.keySet().stream().map(name -> getEntitySet(CONTAINER, name)).toList();
            return new CsdlEntityContainer().setName(CONTAINER.getName()).setEntitySets(sets);
        }

        @Override
        public CsdlEntityContainerInfo getEntityContainerInfo(FullQualifiedName name) {
            return name == null || name.equals(CONTAINER) ? new CsdlEntityContainerInfo().setContainerName(CONTAINER) : null;
        }

        @Override
        public List<CsdlSchema> getSchemas() {
            CsdlSchema schema = new CsdlSchema().setNamespace(NAMESPACE).setEntityContainer(getEntityContainer());
            return List.of(schema.setEntityTypes(tables.values().stream().map(this::type).toList()));
        }
    }

    /** Answers collections. */
    static final class Sets implements EntityCollectionProcessor {
        final Map<String, Table> tables;
        OData odata;
        ServiceMetadata metadata;

        Sets(Map<String, Table> tables) {
            this.tables = tables;
        }

        @Override
        public void init(OData odata, ServiceMetadata metadata) {
            this.odata = odata;
            this.metadata = metadata;
        }

        @Override
        public void readEntityCollection(ODataRequest request, ODataResponse response, UriInfo uri, ContentType format)
                throws ODataApplicationException, ODataLibraryException {
            EdmEntitySet set = ((UriResourceEntitySet) uri.getUriResourceParts().get(0)).getEntitySet();
            List<Entity> rows = new ArrayList<>();
            for (Entity row : tables.get(set.getName()).rows) {
                if (passes(uri.getFilterOption(), row)) {
                    rows.add(row);
                }
            }
            if (uri.getOrderByOption() != null) {
                rows.sort(order(uri.getOrderByOption().getOrders()));
            }
            EntityCollection answer = new EntityCollection();
            if (uri.getCountOption() != null && uri.getCountOption().getValue()) {
                answer.setCount(rows.size());
            }
            int skip = uri.getSkipOption() == null ? 0 : Math.min(uri.getSkipOption().getValue(), rows.size());
            int top = uri.getTopOption() == null ? rows.size() : uri.getTopOption().getValue();
            answer.getEntities().addAll(rows.subList(skip, Math.min(rows.size(), skip + top)));
            String selected = odata.createUriHelper()
                    .buildContextURLSelectList(set.getEntityType(), uri.getExpandOption(), uri.getSelectOption());
            ContextURL context = ContextURL.with().entitySet(set).selectList(selected).build();
            EntityCollectionSerializerOptions options = EntityCollectionSerializerOptions.with().contextURL(context)
                    .count(uri.getCountOption()).select(uri.getSelectOption()).expand(uri.getExpandOption()).build();
            response.setContent(odata.createSerializer(format)
                    .entityCollection(metadata, set.getEntityType(), answer, options).getContent());
            response.setStatusCode(200);
            response.setHeader("Content-Type", format.toContentTypeString());
        }

        boolean passes(FilterOption filter, Entity row) throws ODataApplicationException {
            try {
                return filter == null || Boolean.TRUE.equals(filter.getExpression().accept(new Evaluation(row)));
            } catch (ExpressionVisitException error) {
                throw new ODataApplicationException(error.getMessage(), 400, Locale.ENGLISH);
            }
        }

        Comparator<Entity> order(List<OrderByItem> items) {
            Comparator<Entity> order = (left, right) -> 0;
            for (OrderByItem item : items) {
                Comparator<Entity> next = (left, right) -> {
                    try {
                        return compared(item.getExpression().accept(new Evaluation(left)),
                                item.getExpression().accept(new Evaluation(right)));
                    } catch (ODataApplicationException | ExpressionVisitException error) {
                        throw new IllegalStateException(error);
                    }
                };
                order = order.thenComparing(item.isDescending() ? next.reversed() : next);
            }
            return order;
        }
    }

    static int compared(Object left, Object right) {
        if (left instanceof Number a && right instanceof Number b) {
            return new BigDecimal(a.toString()).compareTo(new BigDecimal(b.toString()));
        }
        return String.valueOf(left).compareTo(String.valueOf(right));
    }

    /** The value of an expression for one row. */
    static final class Evaluation implements ExpressionVisitor<Object> {
        final Entity row;

        Evaluation(Entity row) {
            this.row = row;
        }

        static ODataApplicationException unbuilt(String what) {
            return new ODataApplicationException(what + " is not built", 501, Locale.ENGLISH);
        }

        @Override
        public Object visitBinaryOperator(BinaryOperatorKind operator, Object left, Object right)
                throws ODataApplicationException {
            return switch (operator) {
                case AND -> (Boolean) left && (Boolean) right;
                case OR -> (Boolean) left || (Boolean) right;
                case EQ -> compared(left, right) == 0;
                case NE -> compared(left, right) != 0;
                case GT -> left != null && right != null && compared(left, right) > 0;
                case GE -> left != null && right != null && compared(left, right) >= 0;
                case LT -> left != null && right != null && compared(left, right) < 0;
                case LE -> left != null && right != null && compared(left, right) <= 0;
                default -> throw unbuilt(operator.toString());
            };
        }

        @Override
        public Object visitMember(Member member) {
            UriResourceProperty property = (UriResourceProperty) member.getResourcePath().getUriResourceParts().get(0);
            return row.getProperty(property.getProperty().getName()).getValue();
        }

        @Override
        public Object visitLiteral(Literal literal) {
            String text = literal.getText();
            if (text.startsWith("'")) {
                return text.substring(1, text.length() - 1).replace("''", "'");
            }
            return literal.getType() instanceof EdmDate ? java.sql.Date.valueOf(text) : new BigDecimal(text);
        }

        @Override
        public Object visitUnaryOperator(UnaryOperatorKind operator, Object operand) throws ODataApplicationException {
            throw unbuilt(operator.toString());
        }

        @Override
        public Object visitMethodCall(MethodKind method, List<Object> parameters) throws ODataApplicationException {
            throw unbuilt(method.toString());
        }

        @Override
        public Object visitLambdaExpression(String function, String variable, Expression expression)
                throws ODataApplicationException {
            throw unbuilt(function);
        }

        @Override
        public Object visitAlias(String alias) throws ODataApplicationException {
            throw unbuilt(alias);
        }

        @Override
        public Object visitTypeLiteral(EdmType type) throws ODataApplicationException {
            throw unbuilt(type.getName());
        }

        @Override
        public Object visitLambdaReference(String variable) throws ODataApplicationException {
            throw unbuilt(variable);
        }

        @Override
        public Object visitEnum(EdmEnumType type, List<String> values) throws ODataApplicationException {
            throw unbuilt(type.getName());
        }

        @Override
        public Object visitBinaryOperator(BinaryOperatorKind operator, Object left, List<Object> right)
                throws ODataApplicationException {
            throw unbuilt(operator.toString());
        }
    }
}
