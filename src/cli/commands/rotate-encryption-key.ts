import { readFileSync } from 'node:fs';
import type { Flags } from '../../config/runtime.ts';
import type { RotationView } from '../../control/views.ts';
import { GatewayError } from '../../ir/errors.ts';
import { countText } from '../../kit/text/count-text.ts';
import { runControlCommand } from '../run-control-command.ts';
import type { CommandResult } from '../terminal/output.ts';

/** Re-encrypts stored credentials under the key in a file, or under a generated one. */
export async function rotateEncryptionKey(
  flags: Flags,
  newKeyFile: string | undefined,
): Promise<CommandResult<RotationView>> {
  const newKey = newKeyFile === undefined ? undefined : readKey(newKeyFile);
  const result = await runControlCommand(flags, 'encryption.rotate', { new_key: newKey });
  return { result, text: textOf(result, newKeyFile) };
}

function readKey(file: string): string {
  const text = readFileSync(file, 'latin1').trim();
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return text;
  throw new GatewayError('invalid-request', `${file}: must hold 32 bytes in base64 and nothing else`);
}

function textOf(
  { key_id, credentials, source, must_be_given }: RotationView,
  newKeyFile: string | undefined,
) {
  const done = `${countText(credentials, 'stored credential')} encrypted anew, under the new key ${key_id}.\n`;
  const next = must_be_given
    ? `Now put the content of ${newKeyFile} into ${source}, where the gateway is started. The old key ` +
      `opens the stored credentials until the gateway has been started with the new one.\n`
    : `The key is in ${source}; keep a copy of it with your backups.\n`;
  return done + next;
}
