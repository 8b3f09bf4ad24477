import { expect, it } from 'vitest';
import { pixelSizeOf } from './pixel-size.ts';

const base64 = (hex: string, rest = 40) =>
  Buffer.concat([Buffer.from(hex.replaceAll(' ', ''), 'hex'), Buffer.alloc(rest)]).toString('base64');

const EXIF = `ffe1 ffff ${'00'.repeat(65_533)}`;
const FRAME = 'ffc2 0011 08 0bd0 0fc0';
const SIZE = { width: 4032, height: 3024 };

it.each([
  ['PNG', base64('89504e470d0a1a0a 0000000d 49484452 00000fc0 00000bd0')],
  ['PNG with a line break before it', `\n${base64('89504e470d0a1a0a 0000000d 49484452 00000fc0 00000bd0')}`],
  ['GIF', base64('474946383961 c00f d00b')],
  ['JPEG', base64(`ffd8 ffe0 0010 ${'00'.repeat(14)} ${FRAME}`)],
  ['JPEG with much of a camera', base64(`ffd8 ${EXIF} ${EXIF} ffdb 0003 00 ff ff${FRAME.slice(2)}`)],
  ['WebP with losses', base64('52494646 00000000 57454250 56503820 00000000 000000 9d012a c00f d00b')],
  ['WebP without losses', base64('52494646 00000000 57454250 5650384c 00000000 2f bfcff302')],
  ['WebP with features', base64('52494646 00000000 57454250 56503858 0a000000 00000000 bf0f00 cf0b00')],
])('reads the size of a %s', (_, data) => {
  expect(pixelSizeOf(data)).toEqual(SIZE);
});

it.each([
  ['nothing', ''],
  ['a text', 'aGVsbG8='],
  ['something that is no base64', '$$$'],
  ['a PNG that is cut off', base64('89504e470d0a1a0a 0000000d', 0)],
  ['a PNG without pixels', base64('89504e470d0a1a0a 0000000d 49484452 00000000 00000001')],
  ['a JPEG without a frame', base64('ffd8 ffe0 0010')],
  ['a JPEG whose segments have no length', base64(`ffd8 ${'ffe00000'.repeat(50)}`)],
  ['a WebP of no known form', base64('52494646 00000000 57454250 56503839')],
  ['a TIFF', base64('49492a00 08000000')],
])('knows no size of %s', (_, data) => {
  expect(pixelSizeOf(data)).toBeUndefined();
});
