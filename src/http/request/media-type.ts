import { GatewayError } from '../../ir/errors.ts';

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const JSON_TYPE = new RegExp(`^(?:application/json|${TOKEN}/${TOKEN}\\+json)$`, 'i');
const FORM_TYPE = /^\s*multipart\/form-data\s*(?:;|$)/i;
const PARAMETER = new RegExp(`^\\s*(${TOKEN})=(?:(${TOKEN})|"([^"\\\\]*)")\\s*$`);

/** Refuses a body that is not plain JSON in UTF-8: by its type, its character set or its encoding. */
export function requireJson(contentType: string | undefined, contentEncoding: string | undefined): void {
  requirePlain(contentEncoding);
  if (!isJsonInUtf8(contentType)) {
    throw new GatewayError('unsupported-media', 'Content-Type: must be application/json in UTF-8');
  }
}

/** Refuses a body that is not a form with files: by its type or its encoding. */
export function requireForm(contentType: string | undefined, contentEncoding: string | undefined): void {
  requirePlain(contentEncoding);
  if (FORM_TYPE.test(contentType ?? '')) return;
  throw new GatewayError('unsupported-media', 'Content-Type: must be multipart/form-data');
}

function requirePlain(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || contentEncoding.trim().toLowerCase() === 'identity') return;
  throw new GatewayError(
    'unsupported-media',
    'Content-Encoding: compressed request bodies are not accepted; send the body as it is',
  );
}

function isJsonInUtf8(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = (contentType ?? '').split(';');
  if (!JSON_TYPE.test(type.replace(/^ +| +$/g, ''))) return false;
  return parameters.every((text) => {
    if (text.trim() === '') return true;
    const [, name, bare, quoted] = PARAMETER.exec(text) ?? [];
    if (name === undefined) return false;
    return name.toLowerCase() !== 'charset' || /^utf-?8$/i.test(bare ?? quoted ?? '');
  });
}
