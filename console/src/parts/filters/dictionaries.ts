import { ask } from '../../api/request.ts';
import type { FilterChoice } from './filter-fields.ts';

/** Values of filters, from what the gateway knows rather than from scans of its history. */

/** Pages of keys that are read for a list; others can be typed by their hash. */
const MAX_KEY_PAGES = 5;
const KEYS_PER_PAGE = 100;

export async function modelChoices(): Promise<readonly FilterChoice[]> {
  const { data } = await ask<{ data: readonly { id: string }[] }>('/models');
  return data.map(({ id }) => ({ value: id, label: id }));
}

/** By the name that records have, such as `Anthropic`. */
export async function providerChoices(): Promise<readonly FilterChoice[]> {
  const { data } = await ask<{ data: readonly { name: string }[] }>('/providers');
  return data.map(({ name }) => ({ value: name, label: name }));
}

export async function keyChoices(): Promise<readonly FilterChoice[]> {
  const found: FilterChoice[] = [];
  for (let page = 0; page < MAX_KEY_PAGES; page++) {
    const { data } = await ask<{ data: readonly { hash: string; name: string; label: string }[] }>('/keys', {
      query: { offset: page * KEYS_PER_PAGE, include_disabled: true, all_workspaces: true },
    });
    found.push(
      ...data.map(({ hash, name, label }) => ({ value: hash, label: name || label, detail: label })),
    );
    if (data.length < KEYS_PER_PAGE) break;
  }
  return found;
}

export async function workspaceChoices(): Promise<readonly FilterChoice[]> {
  const { data } = await ask<{ data: readonly { id: string; name: string }[] }>('/workspaces', {
    query: { limit: 100 },
  });
  return data.map(({ id, name }) => ({ value: id, label: name }));
}
