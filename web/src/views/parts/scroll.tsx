// A container that scrolls horizontally by mouse, touch and arrow keys, with a label for screen readers.
import type { ComponentChildren } from 'preact'

export function Scroll({ label, children, class: name = 'table-holder' }: { label: string; children: ComponentChildren; class?: string }) {
  return (
    <div class={name} role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}
