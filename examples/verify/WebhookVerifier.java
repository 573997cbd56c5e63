import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class WebhookVerifier {
    private static final long TOLERANCE_SECONDS = 300;

    private WebhookVerifier() {}

    /**
     * Returns true if a delivery was signed with one of our webhook secrets, and its timestamp is within the tolerance.
     *
     * @param secrets each webhook_secret in use, usually one
     * @param timestamp the header X-Service-Timestamp, or null if it is missing
     * @param signature the header X-Service-Signature, or null if it is missing
     * @param body the bytes as they arrived, before any parsing
     * @param now Instant.now()
     */
    public static boolean verify(
            List<String> secrets, String timestamp, String signature, byte[] body, Instant now) {
        if (timestamp == null || signature == null || !timestamp.matches("[0-9]{1,12}")) {
            return false;
        }
        if (Math.abs(now.getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) {
            return false;
        }
        byte[] given = signature.getBytes(UTF_8);
        return secrets.stream()
                .filter(secret -> !secret.isEmpty())
                .anyMatch(secret -> MessageDigest.isEqual(sign(secret, timestamp, body), given));
    }

    private static byte[] sign(String secret, String timestamp, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
            mac.update((timestamp + ".").getBytes(UTF_8));
            return ("sha256=" + HexFormat.of().formatHex(mac.doFinal(body))).getBytes(UTF_8);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every Java has HmacSHA256
        }
    }
}
