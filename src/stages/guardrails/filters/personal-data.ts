import type { BuiltinSlug } from '../../../ports/tenancy/guardrails.ts';
import type { DataShape } from './bounded-search.ts';
import { CREDIT_CARD } from './shapes/credit-card.ts';
import { EMAIL, ENCODED_EMAIL } from './shapes/email.ts';
import { IP_ADDRESS } from './shapes/ip-address.ts';
import { PHONE } from './shapes/phone.ts';
import { SSN } from './shapes/ssn.ts';

export interface FilterWords {
  /** Names the data in messages. */
  readonly label: string;
  /** Stands in place of the data. */
  readonly redaction: string;
}

export interface DataFilter extends FilterWords {
  readonly slug: BuiltinSlug;
  /** The ways in which the data is written. */
  readonly shapes: readonly DataShape[];
}

export const DATA_FILTERS: readonly DataFilter[] = [
  { slug: 'email', label: 'Email address', redaction: '[EMAIL]', shapes: [EMAIL, ENCODED_EMAIL] },
  { slug: 'phone', label: 'Phone number', redaction: '[PHONE]', shapes: [PHONE] },
  { slug: 'ssn', label: 'Social Security number', redaction: '[SSN]', shapes: [SSN] },
  { slug: 'credit-card', label: 'Credit card number', redaction: '[CREDIT_CARD]', shapes: [CREDIT_CARD] },
  { slug: 'ip-address', label: 'IP address', redaction: '[IP_ADDRESS]', shapes: [IP_ADDRESS] },
];
