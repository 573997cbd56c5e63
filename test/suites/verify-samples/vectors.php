<?php

declare(strict_types=1);

require __DIR__ . '/verify.php';

$text = fn (string $field): ?string => $field === '-' ? null : base64_decode($field, true);

while (($line = fgets(STDIN)) !== false) {
    [$secrets, $timestamp, $signature, $body, $now] = explode("\t", rtrim($line, "\n"));
    $given = array_map($text, array_slice(explode(',', $secrets), 0, -1));
    $isValid = verify_webhook($given, $text($timestamp), $text($signature), base64_decode($body, true), (int) $now);
    echo $isValid ? "true\n" : "false\n";
}
