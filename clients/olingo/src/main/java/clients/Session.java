// What a service asks of those who write: a token (X-CSRF-Token), and the cookie that it belongs to.
package clients;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.apache.http.impl.client.BasicCookieStore;
import org.apache.http.impl.client.DefaultHttpClient;
import org.apache.olingo.client.api.ODataClient;
import org.apache.olingo.client.api.communication.request.ODataRequest;
import org.apache.olingo.client.core.http.DefaultHttpClientFactory;
import org.apache.olingo.commons.api.http.HttpMethod;

final class Session extends DefaultHttpClientFactory {
  private final BasicCookieStore cookies = new BasicCookieStore();
  private final Map<String, String> tokens = new HashMap<>();

  @Override
  public DefaultHttpClient create(HttpMethod method, URI uri) {
    DefaultHttpClient http = super.create(method, uri);
    http.setCookieStore(cookies);
    return http;
  }

  /** The request with the token of its service, which is fetched once. */
  <R extends ODataRequest> R allowed(ODataClient client, String service, R request) {
    String token =
        tokens.computeIfAbsent(
            service,
            root -> {
              var fetch = client.getRetrieveRequestFactory().getServiceDocumentRequest(root);
              fetch.addCustomHeader("X-CSRF-Token", "Fetch");
              return fetch.execute().getHeader("X-CSRF-Token").iterator().next();
            });
    request.addCustomHeader("X-CSRF-Token", token);
    return request;
  }
}
