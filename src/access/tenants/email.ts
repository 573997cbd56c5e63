/** E-mails are compared without regard to case, as people type them. */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}
