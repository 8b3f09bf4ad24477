import { expect, it } from 'vitest';
import { s3PlaceOf } from './s3-place.ts';
import { completionOf, elementIn, listPageOf } from './s3-replies.ts';

it('reads a list of objects', () => {
  const page = listPageOf(`<?xml version="1.0" encoding="UTF-8"?>
    <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><IsTruncated>true</IsTruncated>
    <Contents><Key>a&amp;b&#x2F;c</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>7</Size></Contents>
    <NextContinuationToken>1&quot;==</NextContinuationToken></ListBucketResult>`);
  expect(page).toEqual({
    objects: [{ key: 'a&b/c', bytes: 7, storedAtMs: Date.parse('2026-01-01T00:00:00Z') }],
    next: '1"==',
  });
  expect(listPageOf('<ListBucketResult></ListBucketResult>')).toEqual({ objects: [], next: undefined });
});

it('writes the parts of an upload, and reads the code of an error', () => {
  expect(completionOf(['"a"', '"b"'])).toBe(
    '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&#34;a&#34;</ETag></Part>' +
      '<Part><PartNumber>2</PartNumber><ETag>&#34;b&#34;</ETag></Part></CompleteMultipartUpload>',
  );
  expect(elementIn('<Error><Code>SlowDown</Code></Error>', 'Code')).toBe('SlowDown');
});

it('finds the address of a bucket', () => {
  const bucket = { region: 'eu-west-1', bucket: 'b', prefix: 'p/', isPathStyle: true };
  expect(s3PlaceOf(bucket)).toEqual({
    origin: 'https://s3.eu-west-1.amazonaws.com',
    bucketPath: '/b',
    prefix: 'p/',
  });
  expect(s3PlaceOf({ ...bucket, endpoint: 'http://h:9000', isPathStyle: false })).toEqual({
    origin: 'http://b.h:9000',
    bucketPath: '',
    prefix: 'p/',
  });
});
