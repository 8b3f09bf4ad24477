import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RecencyList, type RecencyNode } from './recency-list.ts';

class Node implements RecencyNode<Node> {
  older: Node | undefined;
  newer: Node | undefined;
  readonly id: number;

  constructor(id: number) {
    this.id = id;
  }
}

it('has its members in the order of their last use', () => {
  const step = fc.tuple(fc.constantFrom('use', 'remove'), fc.integer({ min: 0, max: 5 }));
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const list = new RecencyList<Node>();
      const nodes = new Map<number, Node>();
      let order: number[] = [];
      for (const [what, id] of steps) {
        const node = nodes.get(id);
        order = order.filter((other) => other !== id);
        if (what === 'remove') {
          if (node !== undefined) list.remove(node);
          nodes.delete(id);
          continue;
        }
        order.push(id);
        if (node === undefined) {
          const added = new Node(id);
          nodes.set(id, added);
          list.add(added);
        } else list.touch(node);
      }
      const found: number[] = [];
      for (let node = list.oldest; node !== undefined; node = node.newer) found.push(node.id);
      expect(found).toEqual(order);
      const drained: number[] = [];
      for (let node = list.oldest; node !== undefined; node = list.oldest) {
        drained.push(node.id);
        list.remove(node);
      }
      expect(drained).toEqual(order);
    }),
  );
});
