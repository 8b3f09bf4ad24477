import { afterEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/adapters/contracts/temporary-directory.ts';
import { classificationOf } from '../../../../test/kit/builders/classifiers.ts';
import type { Classification, ClassifierTag } from '../../../ports/following/classifiers.ts';
import { TagFeed } from './tag-feed.ts';

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Classifications in a database, and the events of a data directory. */
function stores() {
  const directory = temporaryDirectory();
  closers.push(directory.remove);
  const stored: Classification[] = [];
  const tags: ClassifierTag[] = [];
  const asked: number[] = [];
  const state = { isDown: false, onAdd: () => {} };
  const classifications = {
    async behind(place: number, limit: number) {
      asked.push(place);
      const page = stored.slice(place, place + limit);
      return { classifications: page, place: place + page.length };
    },
    end: async () => stored.length,
  };
  const events = {
    async addTags(added: readonly ClassifierTag[]) {
      if (state.isDown) throw new Error('away');
      state.onAdd();
      tags.push(...added);
    },
  };
  const open = (isFileMissing = false) => {
    const feed = new TagFeed({
      directory: directory.path,
      fileName: 'tags.json',
      classifications,
      events,
      isFileMissing,
      warn: () => {},
      waitMs: 1,
    });
    closers.push(() => feed.close());
    feed.start();
    return feed;
  };
  return { stored, tags, asked, state, open };
}

const numbered = (number: number) => classificationOf({ generationId: `gen-${number}` });
const idsOf = (tags: readonly ClassifierTag[]) => tags.map(({ generationId }) => generationId);

it('feeds what is written, once, and goes on there in the next run', async () => {
  const { stored, tags, asked, open } = stores();
  stored.push(numbered(1), classificationOf({ generationId: 'gen-2', tags: {} }));
  const feed = open();
  await expect.poll(() => idsOf(tags)).toEqual(['gen-1']);
  stored.push(numbered(3));
  feed.lookAgain();
  await expect.poll(() => idsOf(tags)).toEqual(['gen-1', 'gen-3']);
  await expect.poll(() => asked.at(-1)).toBe(3);
  await feed.close();
  open();
  stored.push(numbered(4));
  await expect.poll(() => idsOf(tags)).toEqual(['gen-1', 'gen-3', 'gen-4']);
});

it('feeds everything again after events were lost, even in the middle of a pass', async () => {
  const { stored, tags, state, open } = stores();
  stored.push(numbered(1), numbered(2));
  const feed = open();
  await expect.poll(() => tags.length).toBe(2);
  stored.push(numbered(3));
  state.onAdd = () => {
    state.onAdd = () => {};
    tags.length = 0;
    feed.eventsLost();
    expect(feed.isRefilling).toBe(true);
  };
  feed.lookAgain();
  await expect.poll(() => new Set(idsOf(tags))).toEqual(new Set(['gen-1', 'gen-2', 'gen-3']));
  await expect.poll(() => feed.isRefilling).toBe(false);
  await feed.close();
  tags.length = 0;
  open(true);
  await expect.poll(() => idsOf(tags)).toEqual(['gen-1', 'gen-2', 'gen-3']);
});

it('begins again with a database that has come back from a backup', async () => {
  const { stored, tags, open } = stores();
  stored.push(numbered(1), numbered(2), numbered(3));
  const feed = open();
  await feed.feedAll();
  await feed.close();
  stored.splice(1, 2, numbered(9));
  tags.length = 0;
  open();
  await expect.poll(() => idsOf(tags)).toEqual(['gen-1', 'gen-9']);
});
