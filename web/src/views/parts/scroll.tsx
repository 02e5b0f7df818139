// A part that may be wider than its place: scrolled by mouse, touch and arrow keys, and named for those who do not see it.
import type { ComponentChildren } from 'preact'

export function Scroll({ label, children, class: name = 'table-holder' }: { label: string; children: ComponentChildren; class?: string }) {
  return (
    <div class={name} role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}
