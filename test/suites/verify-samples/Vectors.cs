using System;
using System.Linq;
using System.Text;

static class Vectors
{
    static void Main()
    {
        for (string line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            string[] fields = line.Split('\t');
            string[] given = fields[0].Split(',');
            var secrets = given.Take(given.Length - 1).Select(Text).ToList();
            byte[] body = Convert.FromBase64String(fields[3]);
            DateTimeOffset now = DateTimeOffset.FromUnixTimeSeconds(long.Parse(fields[4]));
            bool isValid = WebhookVerifier.Verify(secrets, Text(fields[1]), Text(fields[2]), body, now);
            Console.WriteLine(isValid ? "true" : "false");
        }
    }

    static string Text(string field)
    {
        return field == "-" ? null : Encoding.UTF8.GetString(Convert.FromBase64String(field));
    }
}
