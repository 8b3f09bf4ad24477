import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TypeReader } from './read-types.ts';
import { literal, type Shape, STRING, unionOf } from './shape.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-reader-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function read(source: string, name = 'T', wireName?: (name: string) => string): Shape {
  writeFileSync(join(folder, 'a.d.ts'), source);
  return new TypeReader(folder, wireName).read('a.d.ts', name);
}

/** The shapes of an object's members, with `?` behind the names of those that may be left out. */
function membersOf(shape: Shape): Record<string, Shape> {
  if (shape.kind !== 'object') throw new Error(`a ${shape.kind} has no members`);
  return Object.fromEntries(
    shape.members.map((each) => [`${each.name}${each.isOptional ? '?' : ''}`, each.shape]),
  );
}

describe('a reader of types', () => {
  it('reads unions of literals, and null among them', () => {
    expect(read("export type T = 'a' | 1 | null;")).toEqual({
      kind: 'union',
      of: [literal('a'), literal(1), literal(null)],
    });
  });

  it('reads a literal beside any text', () => {
    expect(read("export type T = 'a' | (string & {});")).toEqual(unionOf([literal('a'), STRING]));
  });

  it('reads the values of an enum, and of a constant', () => {
    expect(read('export declare enum T { A = "a", B = "b" }')).toEqual(unionOf([literal('a'), literal('b')]));
    const constant = 'declare const V: { readonly A: "a"; readonly B: "b" };';
    expect(read(`${constant} export type T = (typeof V)[keyof typeof V];`)).toEqual(
      unionOf([literal('a'), literal('b')]),
    );
  });

  it('reads optional members of objects in objects', () => {
    const outer = membersOf(
      read('export interface T { a: { b?: string[]; c: Inner } } interface Inner { d?: number }'),
    );
    expect(Object.keys(outer)).toEqual(['a']);
    const inner = membersOf(outer.a as Shape);
    expect(inner['b?']).toEqual({ kind: 'list', of: STRING });
    expect(membersOf(inner.c as Shape)).toEqual({ 'd?': { kind: 'number' } });
  });

  it('reads what an interface extends, and leaves out what must be absent', () => {
    const shape = read(
      'interface B { a: string; b: string } export interface T extends B { b?: never; c: 1 }',
    );
    expect(membersOf(shape)).toEqual({ a: STRING, b: STRING, c: literal(1) });
    expect(membersOf(read('export interface T { a: string; b?: never }'))).toEqual({ a: STRING });
  });

  it('reads types of other files, of namespaces and of themselves', () => {
    writeFileSync(join(folder, 'b.d.ts'), "export declare namespace N { interface I { next?: I; x: 'x' } }");
    const shape = read("import { N } from './b.js'; export type T = N.I;");
    expect(membersOf(shape)['next?']).toBe(shape);
  });

  it('reads generic types', () => {
    const source = "type Box<V> = { value: V }; export type T = Omit<{ a: Box<'x'>; b: string }, 'b'>;";
    expect(membersOf(membersOf(read(source)).a as Shape)).toEqual({ value: literal('x') });
  });

  it('tells maps from objects that take further members', () => {
    expect(read('export type T = { [name: string]: string };')).toEqual({ kind: 'map', of: STRING });
    expect(read('export type T = { a: string; [name: string]: unknown };')).toMatchObject({ isOpen: true });
    expect(read('export type T = { a: string };')).toMatchObject({ isOpen: false });
  });

  it('spells members as the wire does, and knows headers', () => {
    const source = 'export interface T { aB: string;\n/**\n * Header param: y\n */\nc: string }';
    const shape = read(source, 'T', (name) => name.toLowerCase());
    expect(shape.kind === 'object' && shape.members.map(({ name, isHeader }) => [name, isHeader])).toEqual([
      ['ab', false],
      ['c', true],
    ]);
  });

  it('refuses a name that a file does not export', () => {
    expect(() => read('export type U = 1;')).toThrow('a.d.ts does not export the type T');
  });
});
