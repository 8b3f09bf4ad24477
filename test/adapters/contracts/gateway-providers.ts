import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encrypt, encryptionKeyOf, keyIdOf } from '../../../src/kit/crypto/encrypt.ts';
import {
  type GatewayProviderStore,
  keyOwnerOf,
  type StoredProvider,
} from '../../../src/ports/tenancy/gateway-providers.ts';

/** An adapter under test, and how to close it. */
export interface GatewayProvidersUnderTest {
  readonly store: GatewayProviderStore;
  close(): Promise<void>;
}

const [ONE, TWO] = [1, 2].map((byte) => encryptionKeyOf(Buffer.alloc(32, byte))) as [
  ReturnType<typeof encryptionKeyOf>,
  ReturnType<typeof encryptionKeyOf>,
];

const encrypted = (text: string, key = ONE) => encrypt(key, text, 'place');

const providerOf = (slug: string, more: Partial<StoredProvider> = {}): StoredProvider => ({
  id: `id-of-${slug}`,
  slug,
  name: null,
  dialect: null,
  baseUrl: null,
  models: [],
  workspaceIds: null,
  label: null,
  encryptedKey: null,
  version: 0,
  disabled: false,
  createdAtMs: 1_760_000_000_000,
  updatedAtMs: null,
  ...more,
});

/** What every GatewayProviderStore must do. `open` gives an empty one each time. */
export function gatewayProviderContract(name: string, open: () => Promise<GatewayProvidersUnderTest>): void {
  describe(`GatewayProviderStore: ${name}`, () => {
    let under: GatewayProvidersUnderTest;
    let store: GatewayProviderStore;

    beforeEach(async () => {
      under = await open();
      store = under.store;
    });

    afterEach(() => under.close());

    it('keeps every field, and lists by slug', async () => {
      const whole = providerOf('workshop', {
        name: 'Wörkshop "1"',
        dialect: 'openai-chat',
        baseUrl: 'http://127.0.0.1:11434/v1',
        models: [
          {
            id: 'workshop/llama',
            model: 'llama3.2:3b',
            name: 'Llama',
            contextLength: 131_072,
            promptPrice: '0.000001',
            completionPrice: '0',
          },
        ],
        workspaceIds: ['w-1', 'w-2'],
        label: 'sk-...abcd',
        encryptedKey: encrypted('secret'),
        version: 3,
        disabled: true,
        updatedAtMs: 1_760_000_000_001,
      });
      expect(await store.insert(whole)).toBe(true);
      expect(await store.insert(providerOf('anthropic'))).toBe(true);
      expect(await store.find('workshop')).toEqual(whole);
      expect(await store.find('none')).toBeUndefined();
      expect(await store.listAll()).toEqual([providerOf('anthropic'), whole]);
    });

    it('holds a slug once', async () => {
      await store.insert(providerOf('openai', { label: 'first' }));
      expect(await store.insert(providerOf('openai', { id: 'other', label: 'second' }))).toBe(false);
      expect((await store.listAll()).map(({ label }) => label)).toEqual(['first']);
    });

    it('changes what is decided by the stored one, or nothing if that throws', async () => {
      await store.insert(providerOf('openai', { version: 4 }));
      const changed = await store.update(
        'openai',
        ({ version }) => ({ version: version + 1, disabled: true }),
        7,
      );
      expect(changed).toEqual(providerOf('openai', { version: 5, disabled: true, updatedAtMs: 7 }));
      expect(await store.find('openai')).toEqual(changed);
      const failing = store.update(
        'openai',
        () => {
          throw new Error('no');
        },
        8,
      );
      await expect(failing).rejects.toThrow('no');
      expect(await store.find('openai')).toEqual(changed);
      expect(await store.update('none', () => ({}), 9)).toBeUndefined();
    });

    it('deletes one', async () => {
      await store.insert(providerOf('openai', { encryptedKey: encrypted('secret') }));
      expect(await store.delete('openai')).toBe(true);
      expect(await store.delete('openai')).toBe(false);
      expect(await store.listAll()).toEqual([]);
      expect(await store.encryptionKeyIds()).toEqual([]);
      expect(await store.insert(providerOf('openai'))).toBe(true);
    });

    it('lists keys under other encryption keys, and replaces those that are what they were', async () => {
      const [first, second] = [encrypted('a'), encrypted('b', TWO)];
      await store.insert(providerOf('one', { encryptedKey: first }));
      await store.insert(providerOf('two', { encryptedKey: second }));
      await store.insert(providerOf('none'));
      expect(await store.encryptionKeyIds()).toEqual([keyIdOf(first), keyIdOf(second)].sort());
      const stale = await store.listEncryptedOtherwise(TWO.id, 10);
      expect(stale).toEqual([{ ...keyOwnerOf({ id: 'id-of-one', slug: 'one' }), encryptedSecret: first }]);
      const becomes = encrypted('a', TWO);
      await store.reencrypt([
        { id: 'id-of-one', was: first, becomes },
        { id: 'id-of-two', was: first, becomes },
      ]);
      expect((await store.find('one'))?.encryptedKey).toBe(becomes);
      expect((await store.find('two'))?.encryptedKey).toBe(second);
      expect(await store.encryptionKeyIds()).toEqual([TWO.id]);
      await store.purgeWipedSecrets();
    });
  });
}
