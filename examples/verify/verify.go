package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

const toleranceSeconds = 300

// Verify reports whether a delivery was signed with one of our webhook secrets, and its timestamp is within the tolerance.
// The timestamp and the signature are the headers X-Service-Timestamp and X-Service-Signature,
// the body is the request's bytes before any parsing, and now is time.Now().
func Verify(secrets []string, timestamp, signature string, body []byte, now time.Time) bool {
	sent, err := strconv.ParseUint(timestamp, 10, 63)
	if err != nil {
		return false
	}
	if age := now.Unix() - int64(sent); age < -toleranceSeconds || age > toleranceSeconds {
		return false
	}
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(timestamp + "."))
		mac.Write(body)
		expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
		if secret != "" && hmac.Equal([]byte(expected), []byte(signature)) {
			return true
		}
	}
	return false
}
