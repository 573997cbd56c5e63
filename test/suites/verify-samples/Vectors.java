import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

class Vectors {
    public static void main(String[] args) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split("\t", -1);
            String[] given = fields[0].split(",", -1);
            List<String> secrets =
                    Arrays.stream(given).limit(given.length - 1).map(Vectors::text).toList();
            byte[] body = Base64.getDecoder().decode(fields[3]);
            Instant now = Instant.ofEpochSecond(Long.parseLong(fields[4]));
            System.out.println(WebhookVerifier.verify(secrets, text(fields[1]), text(fields[2]), body, now));
        }
    }

    private static String text(String field) {
        return field.equals("-") ? null : new String(Base64.getDecoder().decode(field), UTF_8);
    }
}
