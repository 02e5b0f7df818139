// A panel with one table: its title with a remark, and the table with a caption for screen readers.
import type { ComponentChildren } from 'preact'
import { Scroll } from './scroll'

interface Props {
  readonly title: string
  readonly remark: string
  /** Heading, if it differs from the title of the panel. */
  readonly heading?: string
  /** Name of the region that scrolls. */
  readonly label: string
  readonly caption: string
  readonly children: ComponentChildren
}

export function TablePanel({ title, heading = title, remark, label, caption, children }: Props) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>
          {heading} <span class="about">{remark}</span>
        </h2>
      </div>
      <Scroll label={label}>
        <table class="table">
          <caption class="hidden-visually">{caption}</caption>
          {children}
        </table>
      </Scroll>
    </section>
  )
}

/** Header of a column of numbers. */
export function NumberHead({ children }: { children: ComponentChildren }) {
  return (
    <th scope="col" class="right">
      {children}
    </th>
  )
}
