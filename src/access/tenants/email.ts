/** Returns the e-mail address trimmed and in lower case, so that addresses are compared without regard to case. */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}
