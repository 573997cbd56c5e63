import type { Tenant } from '#access/tenants/tenants.ts';
import { currencyFault, unitOf } from '#platform/lib/money.ts';
import { fieldsOf } from '#platform/lib/unchecked.ts';

/** Returns the faults of the currency of a tenant document, as `path: text`. */
export function currencyFaults(document: unknown, known: Tenant | null): string[] {
  const { currency } = fieldsOf(document);
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return [];
  }
  const fault = currencyFault(currency) ?? (known === null ? null : changeFault(document, currency, known));
  return fault === null ? [] : [`currency: ${fault}`];
}

/** Refuses a currency that cannot have the stored prices, unless the document replaces these prices. */
function changeFault(document: unknown, currency: string, known: Tenant): string | null {
  const { menu, properties } = fieldsOf(document);
  const missing = [
    ...(menu === undefined && known.features.includes('restaurant') ? ['"menu"'] : []),
    ...(properties === undefined && known.features.includes('hotel') ? ['"properties"'] : []),
  ];
  return unitOf(currency) <= unitOf(known.currency) || missing.length === 0
    ? null
    : `has no decimals, but the stored prices in ${known.currency} may have some. Give ${missing.join(' and ')} with prices in ${currency}`;
}
