import { beforeEach, describe, expect, it } from 'vitest';
import { JournalDisk } from '../../../test/program/faults/journal-disk.ts';
import { crc32 } from '../../kit/crypto/crc32.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { openJournal } from './open-journal.ts';
import { type JournalContent, readJournal } from './read-journal.ts';
import { nameOfSegment, parseSegmentHeader, renderSegmentHeader, SEGMENT_HEADER_BYTES } from './segment.ts';

const FIRST = nameOfSegment(1);
const SECOND = nameOfSegment(2);
const RECORDS = ['one', 'two', 'three', 'four'];

/** A record and what its frame adds. */
const framed = (text: string) => text.length + 12;
const endOf = (count: number) =>
  RECORDS.slice(0, count)
    .map(framed)
    .reduce((sum, bytes) => sum + bytes, SEGMENT_HEADER_BYTES);

/** A journal with each of some texts appended and synced on its own. */
async function written(texts: readonly string[], segmentBytes?: number): Promise<JournalDisk> {
  const disk = new JournalDisk();
  const { journal } = await going(
    disk,
    openJournal(
      { directory: '', ...(segmentBytes !== undefined && { segmentBytes }), reservedBytes: 0, replay() {} },
      disk,
    ),
  );
  for (const text of texts) await going(disk, journal.append(Buffer.from(text), 'power'));
  await going(disk, journal.close());
  return disk;
}

async function read(disk: JournalDisk): Promise<JournalContent & { readonly texts: readonly string[] }> {
  const texts: string[] = [];
  const content = await going(
    disk,
    readJournal(disk, ({ record }) => texts.push(Buffer.from(record).toString())),
  );
  return { ...content, texts };
}

async function going<T>(disk: JournalDisk, operation: Promise<T>): Promise<T> {
  operation.catch(() => {});
  await disk.quiesce();
  return operation;
}

describe('reading a journal', () => {
  let disk: JournalDisk;

  beforeEach(async () => {
    disk = await written(RECORDS);
  });

  it('gives all records in order and says how far each segment goes', async () => {
    const { texts, segments, tornTails } = await read(disk);
    expect(texts).toEqual(RECORDS);
    expect(tornTails).toEqual([]);
    expect(segments).toEqual([{ number: 1, bytes: endOf(4), ends: { synced: endOf(3), written: endOf(4) } }]);
  });

  it('reads the prefix wherever the last record is cut, and reports the rest', async () => {
    const whole = disk.contentOf(FIRST)!;
    for (let cut = 1; cut < framed('four'); cut++) {
      disk.setContent(FIRST, whole.subarray(0, whole.length - cut));
      const { texts, tornTails } = await read(disk);
      expect(texts).toEqual(RECORDS.slice(0, 3));
      expect(tornTails).toEqual([
        { file: '/journal/0000000001.journal', offset: endOf(3), bytes: framed('four') - cut },
      ]);
    }
  });

  it('drops the last record for one wrong bit and refuses every other one', async () => {
    const whole = disk.contentOf(FIRST)!;
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const changed = Buffer.from(whole);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      disk.setContent(FIRST, changed);
      if (bit >> 3 >= endOf(3)) expect((await read(disk)).texts).toEqual(RECORDS.slice(0, 3));
      else await expect(read(disk)).rejects.toThrow(DataDirectoryProblem);
    }
  });

  it('names the file and the place of damage, and what to do', async () => {
    disk.contentOf(FIRST)![endOf(1) + 14]! ^= 1;
    await expect(read(disk)).rejects.toThrow(
      `/journal/0000000001.journal is damaged at byte ${endOf(1)}: a record that was safely on the disk cannot be read; nothing was changed: put the data directory back from a backup`,
    );
  });

  it.each([1, 12, 4096])('takes %i zeros at the end for a torn tail', async (bytes) => {
    disk.setContent(FIRST, Buffer.concat([disk.contentOf(FIRST)!, Buffer.alloc(bytes)]));
    const { texts, tornTails } = await read(disk);
    expect(texts).toEqual(RECORDS);
    expect(tornTails).toEqual([{ file: '/journal/0000000001.journal', offset: endOf(4), bytes }]);
  });

  it('does not take a record of another segment for one of its own', async () => {
    const other = await written(['zero', ...RECORDS], 40);
    const record = other.contentOf(SECOND)!.subarray(SEGMENT_HEADER_BYTES);
    expect(record).toHaveLength(framed('one'));
    disk.setContent(FIRST, Buffer.concat([disk.contentOf(FIRST)!, record]));
    expect((await read(disk)).texts).toEqual(RECORDS);
  });
});

describe('reading several segments', () => {
  let disk: JournalDisk;

  beforeEach(async () => {
    disk = await written(RECORDS, 60);
  });

  it('gives the records of all', async () => {
    const { texts, segments } = await read(disk);
    expect(texts).toEqual(RECORDS);
    expect(segments.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  it.each([
    ['is shorter than it was', (content: Buffer) => content.subarray(0, -1), 'is damaged at byte'],
    [
      'has no records any more',
      (content: Buffer) => content.subarray(0, SEGMENT_HEADER_BYTES),
      'is damaged at byte 28',
    ],
    ['is empty', () => Buffer.alloc(0), 'ends within its header'],
    [
      'is something else',
      (content: Buffer) => Buffer.alloc(content.length, 'text'),
      'is not a journal segment',
    ],
    [
      'is another segment',
      () => renderSegmentHeader({ number: 7, previous: { synced: 0, written: 0 } }),
      'is segment 7 under another name',
    ],
  ])('refuses when an earlier one %s', async (_, change, message) => {
    disk.setContent(FIRST, change(disk.contentOf(FIRST)!));
    await expect(read(disk)).rejects.toThrow(`/journal/0000000001.journal ${message}`);
  });

  it('refuses when one in the middle is missing, not when the first are', async () => {
    await going(disk, disk.remove(FIRST));
    expect((await read(disk)).texts).toEqual(RECORDS.slice(2));
    disk = await written(RECORDS, 60);
    await going(disk, disk.remove(SECOND));
    await expect(read(disk)).rejects.toThrow(
      '/journal/0000000002.journal is missing while later segments are there',
    );
  });

  it('leaves other files alone', async () => {
    disk.setContent('notes.txt', Buffer.from('mine'));
    expect((await read(disk)).texts).toEqual(RECORDS);
  });
});

describe('reading a last segment that has only a header', () => {
  const THIRD = nameOfSegment(3);
  const HEADER = renderSegmentHeader({ number: 3, previous: { synced: 44, written: 44 } });
  let disk: JournalDisk;

  beforeEach(async () => {
    disk = await written(['one', 'four'], 40);
  });

  const expectTorn = async (content: Buffer) => {
    disk.setContent(THIRD, content);
    const { texts, segments, tornTails, found, next } = await read(disk);
    expect(texts).toEqual(['one', 'four']);
    expect(segments.map(({ number }) => number)).toEqual([1, 2]);
    expect(tornTails).toEqual([{ file: '/journal/0000000003.journal', offset: 0, bytes: content.length }]);
    expect({ found, next }).toEqual({ found: { oldest: 1, newest: 3 }, next: 3 });
  };

  it('takes a whole one for a segment', async () => {
    disk.setContent(THIRD, HEADER);
    expect(await read(disk)).toMatchObject({ tornTails: [], found: { oldest: 1, newest: 3 }, next: 4 });
  });

  it('takes one that is cut anywhere for a torn end', async () => {
    for (let length = 0; length < SEGMENT_HEADER_BYTES; length++)
      await expectTorn(HEADER.subarray(0, length));
  });

  it('takes one with a wrong bit for a torn end', async () => {
    for (let bit = 0; bit < SEGMENT_HEADER_BYTES * 8; bit++) {
      const changed = Buffer.from(HEADER);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      await expectTorn(changed);
    }
  });

  it('refuses one with a wrong bit and something behind it', async () => {
    const changed = Buffer.concat([HEADER, Buffer.from('x')]);
    changed[13]! ^= 1;
    disk.setContent(THIRD, changed);
    await expect(read(disk)).rejects.toThrow('/journal/0000000003.journal has a damaged header');
  });

  it('refuses one of a later version, which is not damaged', async () => {
    const later = Buffer.from(HEADER);
    later.writeUInt32BE(2, 8);
    later.writeUInt32BE(crc32(later.subarray(0, 24)), 24);
    disk.setContent(THIRD, later);
    await expect(read(disk)).rejects.toThrow('is in version 2 of the format');
  });

  it('reads the one before it as the last one', async () => {
    disk.setContent(SECOND, disk.contentOf(SECOND)!.subarray(0, -1));
    disk.setContent(THIRD, HEADER);
    await expect(read(disk)).rejects.toThrow('/journal/0000000002.journal is damaged at byte 28');
    disk.setContent(THIRD, HEADER.subarray(0, 27));
    const { texts, tornTails } = await read(disk);
    expect(texts).toEqual(['one']);
    expect(tornTails.map(({ offset }) => offset)).toEqual([SEGMENT_HEADER_BYTES, 0]);
  });
});

describe('the header of a segment', () => {
  it('comes back as it was written', () => {
    const header = { number: 12, previous: { synced: 100, written: 140 } };
    expect(parseSegmentHeader(renderSegmentHeader(header))).toEqual(header);
  });

  it('tells a later version', () => {
    const bytes = renderSegmentHeader({ number: 1, previous: { synced: 0, written: 0 } });
    bytes.writeUInt32BE(2, 8);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 24)), 24);
    expect(parseSegmentHeader(bytes)).toBe('is in version 2 of the format; this release reads version 1');
  });
});
