<?php

declare(strict_types=1);

const WEBHOOK_TOLERANCE_SECONDS = 300;

/**
 * Returns true if a delivery was signed with one of our webhook secrets, and its timestamp is within the tolerance.
 *
 * @param string[]    $secrets   each webhook_secret in use, usually one
 * @param string|null $timestamp the header X-Service-Timestamp
 * @param string|null $signature the header X-Service-Signature
 * @param string      $body      the bytes as they arrived: file_get_contents('php://input')
 */
function verify_webhook(array $secrets, ?string $timestamp, ?string $signature, string $body, ?int $now = null): bool
{
    if (preg_match('/\A[0-9]{1,12}\z/', $timestamp ?? '') !== 1) {
        return false;
    }
    if (abs(($now ?? time()) - (int) $timestamp) > WEBHOOK_TOLERANCE_SECONDS) {
        return false;
    }
    foreach ($secrets as $secret) {
        $expected = 'sha256=' . hash_hmac('sha256', "$timestamp.$body", $secret);
        if ($secret !== '' && hash_equals($expected, $signature ?? '')) {
            return true;
        }
    }
    return false;
}
