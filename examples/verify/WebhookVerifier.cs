using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

public static class WebhookVerifier
{
    private const long ToleranceSeconds = 300;

    /// <summary>Returns true if a delivery was signed with one of our webhook secrets, and its timestamp is within the tolerance.</summary>
    /// <param name="secrets">each webhook_secret in use, usually one</param>
    /// <param name="timestamp">the header X-Service-Timestamp, or null if it is missing</param>
    /// <param name="signature">the header X-Service-Signature, or null if it is missing</param>
    /// <param name="body">the bytes as they arrived, before any parsing</param>
    /// <param name="now">DateTimeOffset.UtcNow</param>
    public static bool Verify(
        IEnumerable<string> secrets, string timestamp, string signature, byte[] body, DateTimeOffset now)
    {
        if (!Regex.IsMatch(timestamp ?? "", @"\A[0-9]{1,12}\z"))
        {
            return false;
        }
        long sent = long.Parse(timestamp, CultureInfo.InvariantCulture);
        if (Math.Abs(now.ToUnixTimeSeconds() - sent) > ToleranceSeconds)
        {
            return false;
        }
        byte[] message = Encoding.UTF8.GetBytes(timestamp + ".").Concat(body).ToArray();
        byte[] given = Encoding.UTF8.GetBytes(signature ?? "");
        return secrets.Any(
            secret => secret != "" && CryptographicOperations.FixedTimeEquals(Sign(secret, message), given));
    }

    private static byte[] Sign(string secret, byte[] message)
    {
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            string hex = BitConverter.ToString(hmac.ComputeHash(message)).Replace("-", "").ToLowerInvariant();
            return Encoding.UTF8.GetBytes("sha256=" + hex);
        }
    }
}
