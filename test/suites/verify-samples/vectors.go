package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"samples/webhook"
)

// text decodes a field. A missing header becomes an empty string, as http.Header.Get returns it.
func text(field string) string {
	decoded, _ := base64.StdEncoding.DecodeString(strings.TrimSuffix(field, "-"))
	return string(decoded)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		given := strings.Split(fields[0], ",")
		secrets := given[:len(given)-1]
		for i := range secrets {
			secrets[i] = text(secrets[i])
		}
		now, _ := strconv.ParseInt(fields[4], 10, 64)
		body := []byte(text(fields[3]))
		fmt.Println(webhook.Verify(secrets, text(fields[1]), text(fields[2]), body, time.Unix(now, 0)))
	}
}
