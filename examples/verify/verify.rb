require "openssl"

module RoomserviceWebhook
  TOLERANCE_SECONDS = 300

  # Returns true if a delivery was signed with one of our webhook secrets, and its timestamp is within the tolerance.
  #
  # secrets::   each webhook_secret in use, usually one
  # timestamp:: the header X-Service-Timestamp, or nil if it is missing
  # signature:: the header X-Service-Signature, or nil if it is missing
  # body::      the bytes as they arrived, before any parsing
  def self.verify(secrets, timestamp, signature, body, now: Time.now.to_i)
    return false unless /\A[0-9]{1,12}\z/.match?(timestamp.to_s.b)
    return false if (now - timestamp.to_i).abs > TOLERANCE_SECONDS

    message = "#{timestamp}.".b + body.b
    secrets.any? do |secret|
      expected = "sha256=#{OpenSSL::HMAC.hexdigest("SHA256", secret, message)}"
      secret != "" && OpenSSL.secure_compare(expected, signature.to_s)
    end
  end
end
