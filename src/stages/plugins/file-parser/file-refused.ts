import { GatewayError } from '../../../ir/errors.ts';
import { quoted } from '../../../kit/text/quoted.ts';

/** 400: a file that cannot be read. `why` continues the sentence. */
export function fileRefused(name: string, why: string): GatewayError {
  return new GatewayError('invalid-request', `The file ${quoted(name)} ${why}`);
}
