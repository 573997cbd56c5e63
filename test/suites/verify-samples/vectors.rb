require "base64"
require_relative "verify"

text = ->(field) { field == "-" ? nil : Base64.strict_decode64(field).force_encoding("UTF-8") }

$stdin.each_line(chomp: true) do |line|
  secrets, timestamp, signature, body, now = line.split("\t", -1)
  given = secrets.split(",", -1)[0...-1].map(&text)
  puts RoomserviceWebhook.verify(given, text.(timestamp), text.(signature), text.(body), now: now.to_i)
end
