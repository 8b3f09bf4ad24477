import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Installation, openInstallation } from '../../../src/app/installation.ts';
import { run } from '../../../src/cli/run.ts';
import { listenForCommands } from '../../../src/control/listen.ts';
import { encryptionKeyOf } from '../../../src/kit/crypto/encrypt.ts';
import { openLog } from '../../../src/kit/log/log.ts';
import { Vault } from '../../../src/manage/byok/vault.ts';
import { openSecrets, sealedSecrets } from '../../../src/manage/destinations/destination-secrets.ts';
import type { EncryptionKeyKeeper } from '../../../src/ports/installation/encryption-keys.ts';
import type { ByokStore, SecretStore } from '../../../src/ports/tenancy/byok.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { newCredentialOf } from '../../kit/builders/byok.ts';
import { destinationOf } from '../../kit/builders/destinations.ts';

const ONE = Buffer.alloc(32, 1).toString('base64');
const TWO = Buffer.alloc(32, 2).toString('base64');
const THREE = Buffer.alloc(32, 3).toString('base64');
const idOf = (key: string) => encryptionKeyOf(Buffer.from(key, 'base64')).id;

const SILENT = openLog({ level: 'silent', readable: false, write: () => {}, now: () => 0 });

let temporary: ReturnType<typeof temporaryDirectory>;
let dataDir: string;
let opened: Installation[];

beforeEach(() => {
  temporary = temporaryDirectory();
  dataDir = join(temporary.path, 'data');
  opened = [];
});

afterEach(async () => {
  for (const installation of opened) await installation.close();
  temporary.remove();
});

async function open(directory = dataDir, encryptionKey?: string): Promise<Installation> {
  const installation = await openInstallation({ dataDir: directory, keyPrefix: 'sk-', encryptionKey });
  opened.push(installation);
  return installation;
}

async function close(installation: Installation): Promise<void> {
  opened.splice(opened.indexOf(installation), 1);
  await installation.close();
}

/** Stores credentials whose secrets are `secret of ID`. */
async function fill({ accounts, byokStore, vault }: Installation, ids: readonly string[]): Promise<void> {
  const account = await accounts.ensureFirst();
  for (const id of ids) {
    const owner = { id, accountId: account.id, provider: 'acme' };
    const encryptedSecret = vault.encrypt(owner, `secret of ${id}`);
    await byokStore.insert(newCredentialOf({ ...owner, encryptedSecret }));
  }
}

async function secretsIn({ accounts, byokStore, vault }: Installation): Promise<string[]> {
  const stored = await byokStore.listAll((await accounts.ensureFirst()).id);
  return stored.map((credential) => vault.decrypt(credential));
}

/** Stores destinations of traces whose header `authorization` is `secret of ID`. */
async function fillDestinations(installation: Installation, ids: readonly string[]): Promise<void> {
  const { accounts, destinationStore, tenancy, vault } = installation;
  const { id: accountId } = await accounts.ensureFirst();
  const workspaceId = (await tenancy.defaultWorkspaceOf(accountId))?.id ?? '';
  for (const id of ids) {
    const owner = { id, accountId, type: 'webhook' };
    const encryptedSecrets = sealedSecrets(vault, owner, { 'headers.authorization': `secret of ${id}` });
    await destinationStore.insert(destinationOf({ ...owner, workspaceId, encryptedSecrets }), 5);
  }
}

async function secretsOfDestinations({ destinationStore, vault }: Installation): Promise<string[]> {
  return (await destinationStore.listAll()).flatMap((each) => Object.values(openSecrets(vault, each)));
}

const IDS = ['a', 'b', 'c', 'd', 'e'];
const SECRETS = IDS.map((id) => `secret of ${id}`);
const ownKey = () => readFileSync(join(dataDir, 'encryption-key'), 'latin1').trim();

describe('a key that the data directory keeps', () => {
  it('is replaced, and nothing needs the old one any more', async () => {
    const first = await open();
    await fill(first, IDS);
    const before = ownKey();
    const rotation = await first.vault.rotate();
    expect(rotation).toEqual({
      keyId: idOf(ownKey()),
      previousKeyId: idOf(before),
      credentials: 5,
      source: join(dataDir, 'encryption-key'),
      mustBeGiven: false,
    });
    expect(ownKey()).not.toBe(before);
    expect(statSync(join(dataDir, 'encryption-key')).mode & 0o777).toBe(0o600);
    expect(await secretsIn(first)).toEqual(SECRETS);
    await fill(first, ['f']);
    await close(first);
    const second = await open();
    expect(await secretsIn(second)).toEqual([...SECRETS, 'secret of f']);
    expect(await second.byokStore.encryptionKeyIds()).toEqual([rotation.keyId]);
    expect(readdirSync(dataDir)).not.toContain('encryption-rotation');
  });

  it('can be changed any number of times, with no credential at all, and to a given key', async () => {
    const installation = await open();
    expect((await installation.vault.rotate()).credentials).toBe(0);
    await fill(installation, IDS);
    await installation.vault.rotate();
    expect((await installation.vault.rotate(TWO)).credentials).toBe(5);
    expect(ownKey()).toBe(TWO);
    expect(await secretsIn(installation)).toEqual(SECRETS);
  });

  it('is refused when it is not the one of the stored credentials', async () => {
    const first = await open();
    await fill(first, IDS);
    const id = idOf(ownKey());
    await close(first);
    await expect(open(dataDir, TWO)).rejects.toThrow(
      `stored credentials are encrypted under the key ${id}, and the one in SIGNALBOX_ENCRYPTION_KEY is ${idOf(TWO)}; put the right key there`,
    );
    // The refusal lets the directory go, and the right key still works.
    expect(await secretsIn(await open())).toEqual(SECRETS);
  });

  it('may be any key while nothing is encrypted', async () => {
    await close(await open());
    await open(dataDir, TWO);
  });
});

describe('a key that the operator gives', () => {
  it('is changed to one that the operator gives too, and both work until a start with the new one', async () => {
    const first = await open(dataDir, ONE);
    await fill(first, IDS);
    await expect(first.vault.rotate()).rejects.toThrow('name it with --new-key-file');
    await expect(first.vault.rotate(ONE)).rejects.toThrow('the new key is the one that is in use');
    await expect(first.vault.rotate('bm8=')).rejects.toThrow('the new key must be 32 bytes in base64');
    const rotation = await first.vault.rotate(TWO);
    expect(rotation).toMatchObject({ keyId: idOf(TWO), previousKeyId: idOf(ONE), credentials: 5 });
    expect(rotation).toMatchObject({ source: 'SIGNALBOX_ENCRYPTION_KEY', mustBeGiven: true });
    expect(await secretsIn(first)).toEqual(SECRETS);
    await expect(first.vault.rotate(THREE)).rejects.toThrow(`put the key ${idOf(TWO)} into`);
    await close(first);

    const withOld = await open(dataDir, ONE);
    expect(await secretsIn(withOld)).toEqual(SECRETS);
    expect(withOld.vault.warnings).toEqual([
      `SIGNALBOX_ENCRYPTION_KEY holds the key from before the last rotation; replace it by the new one (${idOf(TWO)}), the old one works until then`,
    ]);
    await close(withOld);

    const withNew = await open(dataDir, TWO);
    expect(await secretsIn(withNew)).toEqual(SECRETS);
    expect(withNew.vault.warnings).toEqual([]);
    expect((await withNew.vault.rotate(THREE)).credentials).toBe(5);
    await close(withNew);
    await expect(open(dataDir, ONE)).rejects.toThrow('stored credentials are encrypted under the key');
    expect(existsSync(join(dataDir, 'encryption-key'))).toBe(false);
  });
});

describe('an interrupted rotation', () => {
  /**
   * Rotates in small steps and keeps a copy of the directory as it is after each of them, as kill -9 would leave it.
   */
  async function copiesOf(installation: Installation, newKey?: string): Promise<string[]> {
    const copies: string[] = [];
    const keep = () => {
      const copy = join(temporary.path, `copy-${copies.length}`);
      cpSync(dataDir, copy, { recursive: true, filter: (source) => !/\/(lock|control\.sock)$/.test(source) });
      copies.push(copy);
    };
    const { byokStore, destinationStore, directory } = installation;
    const kept = (store: SecretStore): SecretStore => ({
      encryptionKeyIds: () => store.encryptionKeyIds(),
      listEncryptedOtherwise: (id) => store.listEncryptedOtherwise(id, 2),
      async reencrypt(replacements) {
        await store.reencrypt(replacements);
        keep();
      },
      async purgeWipedSecrets() {
        await store.purgeWipedSecrets();
        keep();
      },
    });
    const keys = directory.encryptionKeys;
    const keeper: EncryptionKeyKeeper = {
      key: keys.key,
      isGiven: keys.isGiven,
      source: keys.source,
      readRotation: () => keys.readRotation(),
      replace: (key) => {
        keys.replace(key);
        keep();
      },
      writeRotation: (text) => {
        keys.writeRotation(text);
        keep();
      },
      removeRotation: () => {
        keys.removeRotation();
        keep();
      },
    };
    const vault = await Vault.open([kept(byokStore), kept(destinationStore)], keeper);
    await vault.rotate(newKey);
    return copies;
  }

  it('loses nothing and is finished by the next start, wherever it was interrupted', async () => {
    const installation = await open();
    await fill(installation, IDS);
    await fillDestinations(installation, ['x', 'y', 'z']);
    const copies = await copiesOf(installation);
    expect(copies).toHaveLength(12);
    for (const copy of copies) {
      const next = await open(copy);
      expect(await secretsIn(next)).toEqual(SECRETS);
      expect(await secretsOfDestinations(next)).toEqual(['secret of x', 'secret of y', 'secret of z']);
      const ids = await next.byokStore.encryptionKeyIds();
      expect(ids).toHaveLength(1);
      expect(await next.destinationStore.encryptionKeyIds()).toEqual(ids);
      expect(readdirSync(copy)).not.toContain('encryption-rotation');
      await close(next);
      await close(await open(copy));
    }
  });

  it.each([
    ['old', ONE],
    ['new', TWO],
  ])('resumes with either of two given keys: the %s one', async (_name, key) => {
    const installation = await open(dataDir, ONE);
    await fill(installation, IDS);
    await fillDestinations(installation, ['x']);
    // The first two copies are from before the beginning: they know the old key alone.
    const copies = (await copiesOf(installation, TWO)).slice(2);
    for (const copy of copies) {
      const next = await open(copy, key);
      expect(await secretsIn(next)).toEqual(SECRETS);
      expect(await secretsOfDestinations(next)).toEqual(['secret of x']);
      expect(await next.byokStore.encryptionKeyIds()).toEqual([idOf(TWO)]);
      expect(await next.destinationStore.encryptionKeyIds()).toEqual([idOf(TWO)]);
      await close(next);
      await close(await open(copy, TWO));
    }
  });

  it('in a running gateway resumes when the command runs again', async () => {
    const installation = await open();
    await fill(installation, IDS);
    const { byokStore, directory } = installation;
    let isFull = true;
    const store: ByokStore = Object.assign(Object.create(byokStore), {
      encryptionKeyIds: () => byokStore.encryptionKeyIds(),
      purgeWipedSecrets: () => byokStore.purgeWipedSecrets(),
      listEncryptedOtherwise: (id: string) => byokStore.listEncryptedOtherwise(id, 2),
      async reencrypt(replacements: Parameters<ByokStore['reencrypt']>[0]) {
        if (isFull && replacements.some(({ id }) => id === 'c')) throw new Error('disk full');
        await byokStore.reencrypt(replacements);
      },
    });
    const vault = await Vault.open([store], directory.encryptionKeys);
    await expect(vault.rotate()).rejects.toThrow('disk full');
    const readAll = async () =>
      (await byokStore.listAll((await installation.accounts.ensureFirst()).id)).map((one) =>
        vault.decrypt(one),
      );
    expect(await readAll()).toEqual(SECRETS);
    isFull = false;
    expect((await vault.rotate()).credentials).toBe(3);
    expect(await readAll()).toEqual(SECRETS);
    expect(readdirSync(dataDir)).not.toContain('encryption-rotation');
  });

  it('names a credential that was tampered with, and starts all the same', async () => {
    const installation = await open();
    await fill(installation, IDS);
    const { accounts, byokStore, vault } = installation;
    const account = await accounts.ensureFirst();
    const [one, two] = await byokStore.listAll(account.id);
    // The secret of one row in another.
    await byokStore.update(account.id, two!.id, () => ({ encryptedSecret: one!.encryptedSecret }), 1);
    expect(() => vault.decrypt({ ...two!, encryptedSecret: one!.encryptedSecret })).toThrow('another place');
    await expect(vault.rotate()).rejects.toThrow(`the credential ${two!.id} cannot be decrypted`);
    await close(installation);
    const next = await open();
    expect(next.vault.warnings[0]).toContain('the change of the encryption key is not finished');
    await next.byokStore.delete(account.id, two!.id, 2);
    await next.vault.rotate();
    expect(await secretsIn(next)).toEqual(SECRETS.filter((secret) => secret !== 'secret of b'));
  });
});

it('leaves neither the old key nor what it encrypted in the directory', async () => {
  const installation = await open();
  await fill(installation, IDS);
  const [before] = await installation.byokStore.listAll((await installation.accounts.ensureFirst()).id);
  const oldKey = ownKey();
  await installation.vault.rotate();
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  for (const { name: file, parentPath } of files) {
    if (file === 'lock') continue;
    const bytes = readFileSync(join(parentPath, file));
    expect(bytes.includes(oldKey), file).toBe(false);
    expect(bytes.includes(before!.encryptedSecret.slice(24, 64)), file).toBe(false);
  }
});

describe('signalbox rotate-encryption-key', () => {
  async function type(...words: string[]): Promise<{ code: number | undefined; out: string; err: string }> {
    const said = { out: '', err: '' };
    const code = await run(['rotate-encryption-key', '--data-dir', dataDir, ...words], {
      out: (text) => {
        said.out += text;
      },
      err: (text) => {
        said.err += text;
      },
    });
    return { code, ...said };
  }

  it('works while no gateway runs', async () => {
    const installation = await open();
    await fill(installation, IDS);
    await close(installation);
    const before = ownKey();
    const { code, out } = await type();
    expect(out).toBe(
      `5 stored credentials encrypted anew, under the new key ${idOf(ownKey())}.\n` +
        `The key is in ${join(dataDir, 'encryption-key')}; keep a copy of it with your backups.\n`,
    );
    expect(code).toBe(0);
    expect(ownKey()).not.toBe(before);
    expect(out).not.toContain(ownKey());
    const again = await type('--json');
    expect(JSON.parse(again.out)).toEqual({
      key_id: idOf(ownKey()),
      previous_key_id: idOfText(out),
      credentials: 5,
      source: join(dataDir, 'encryption-key'),
      must_be_given: false,
    });
  });

  it('reaches a running gateway, which the operator gave its key', async () => {
    const installation = await open(dataDir, ONE);
    await fill(installation, IDS);
    const socket = await listenForCommands(dataDir, installation, SILENT);
    const file = join(temporary.path, 'new-key');
    writeFileSync(file, `${TWO}\n`);
    try {
      expect(await type()).toMatchObject({ code: 1, err: expect.stringContaining('--new-key-file') });
      const { code, out } = await type('--new-key-file', file);
      expect(out).toContain(`Now put the content of ${file} into SIGNALBOX_ENCRYPTION_KEY`);
      expect(out).not.toContain(TWO);
      expect(code).toBe(0);
      expect(await secretsIn(installation)).toEqual(SECRETS);
    } finally {
      await socket.close();
    }
  });

  it('requires a complete key in the file', async () => {
    const file = join(temporary.path, 'new-key');
    writeFileSync(file, 'secret nonsense');
    const { code, err } = await type('--new-key-file', file);
    expect(err).toBe(`signalbox: ${file}: must hold 32 bytes in base64 and nothing else\n`);
    expect(code).toBe(1);
    expect((await type('--new-key-file', join(temporary.path, 'none'))).err).toContain('ENOENT');
  });
});

function idOfText(text: string): string {
  return /new key ([0-9a-f]{16})\./.exec(text)?.[1] ?? '';
}
