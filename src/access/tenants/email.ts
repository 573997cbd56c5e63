/** Returns the e-mail address in lower case and without spaces around it, because letter case makes no difference in e-mail addresses. */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}
