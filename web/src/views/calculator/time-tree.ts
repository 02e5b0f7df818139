// Traversal of the tree of times. Pure.
import type { TimeNode } from '../../api/answers'

/** All nodes, parents first. */
export function flat(node: TimeNode): TimeNode[] {
  return [node, ...node.children.flatMap(flat)]
}

/** Node with an identifier; null without one. */
export function find(node: TimeNode, id: string): TimeNode | null {
  if (node.id === id) return node
  for (const child of node.children) {
    const found = find(child, id)
    if (found) return found
  }
  return null
}

/** Tree of A with the parts that only B has, so that the table lists both. */
export function merged(a: TimeNode, b: TimeNode | undefined): TimeNode {
  if (!b) return a
  const children = a.children.map((child) =>
    merged(
      child,
      b.children.find((other) => other.id === child.id),
    ),
  )
  const added = b.children.filter((other) => !a.children.some((child) => child.id === other.id))
  return { ...a, children: [...children, ...added] }
}
