import { matching } from './patterns.ts';

// The service calculates with whole cents, because JavaScript numbers are exact for integers up to 2^53.

/** JSON Schema pattern of a money text: 1 to 8 integer digits, at most 2 decimals, and no sign. */
export const MONEY_PATTERN = '^\\d{1,8}(\\.\\d{1,2})?$';

export const DECIMAL_IN_WORDS = 'must be a decimal text such as "12.50", with at most two decimals';

export const MONEY = matching(MONEY_PATTERN, DECIMAL_IN_WORDS);

const MAX_CENTS = 9_999_999_999;

/** Number of decimals of an amount in the API, for every currency (rule 9). */
const DECIMALS = 2;

const FIVE = '5'.charCodeAt(0);

/** Codes of ISO 4217 of the currencies that people pay with. Older codes, such as DEM and HRK, are left out. */
const CURRENCIES = new Set(
  (
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK ' +
    'DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS ' +
    'KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD ' +
    'OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP ' +
    'TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG'
  ).split(' '),
);

const decimalsByCurrency = new Map<string, number>();

function decimalsOf(currency: string): number {
  let decimals = CURRENCIES.has(currency) ? decimalsByCurrency.get(currency) : DECIMALS;
  if (decimals === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    decimals = format.resolvedOptions().maximumFractionDigits ?? DECIMALS;
    decimalsByCurrency.set(currency, decimals);
  }
  return decimals;
}

/** Returns the smallest amount of a currency that the service counts, in cents: 1 for EUR, and 100 for JPY. */
export function unitOf(currency: string): number {
  return 10 ** (DECIMALS - Math.min(DECIMALS, decimalsOf(currency)));
}

export function roundCents(cents: number, unit: number): number {
  return Math.round(cents / unit) * unit;
}

/** Returns what is wrong with a code of three capital letters as the currency of a tenant, or null if a tenant may have this currency. */
export function currencyFault(code: string): string | null {
  if (!CURRENCIES.has(code)) {
    return `${JSON.stringify(code)} is not a currency that is in use. Give its present code of ISO 4217, such as "EUR"`;
  }
  const decimals = decimalsOf(code);
  return decimals > DECIMALS
    ? `${code} cannot be used yet, because it has ${decimals} decimals, and amounts here have two`
    : null;
}

/** Returns one fault for each amount with decimals that the currency lacks. Skips other values, because the schemas report them. */
export function amountFaults(amounts: Iterable<readonly [path: string, amount: unknown]>, currency: string): string[] {
  const unit = unitOf(currency);
  const hasDecimals = (amount: unknown) =>
    (typeof amount === 'string' || typeof amount === 'number') && centsOf(String(amount)) % unit > 0;
  return Array.from(amounts)
    .filter(([, amount]) => hasDecimals(amount))
    .map(([path]) => `${path}: must have no decimals, because ${currency} has none`);
}

/** Converts a decimal text without a sign to whole cents. Rounds half up to the unit, which is a number of cents (rule 21). */
export function centsOf(amount: string, unit = 1): number {
  const point = amount.indexOf('.');
  if (point === -1) {
    return Number(amount) * 100;
  }
  const end = point + (unit === 1 ? DECIMALS : 0) + 1;
  const decimals = amount.slice(point + 1, end).padEnd(DECIMALS, '0');
  const roundedUp = amount.charCodeAt(end) >= FIVE ? unit : 0;
  return Number(amount.slice(0, point) + decimals) + roundedUp;
}

/** Formats whole cents as a decimal text with exactly two decimals (rule 9). */
export function formatCents(cents: number): string {
  const digits = cents < 100 ? String(cents).padStart(3, '0') : String(cents);
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Formats a decimal text with two decimals, rounded half up to the decimals that the currency has. */
export function formatMoney(amount: string, currency?: string): string {
  return formatCents(centsOf(amount, currency === undefined ? 1 : unitOf(currency)));
}

export function exceedsMaximum(cents: number): boolean {
  return cents > MAX_CENTS;
}
