// The tree of a selected range in the form of the icicle chart. Pure.
import type { TimeNode } from '../api/answers'
import type { Node } from '../api/schema/profile_range'
import { className } from './describe'
import * as texts from '../words/timeline'

/** Tree for the chart, with the class of every node by its identifier. */
export function flame(root: Node): { tree: TimeNode; classes: ReadonlyMap<string, string> } {
  const classes = new Map<string, string>()
  const made = (node: Node, id: string): TimeNode => {
    if (node.class) classes.set(id, node.class)
    return {
      id,
      title: id === 'step' ? texts.markedRange3 : node.children.length > 0 && node.name === node.class ? className(node.name) : node.name,
      time: node.total_ns / 1e9,
      share: node.share,
      children: node.children.map((child, at) => made(child, `${id}/${at}`)),
    }
  }
  return { tree: made(root, 'step'), classes }
}
