import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Field } from './field.js'
import './paged.css'

interface PagedProps<T> {
  /** Unique on the screen. */
  readonly id: string
  /** In the plural, such as `employees`. */
  readonly what: string
  readonly items: readonly T[]
  /** The text that a search looks through. */
  readonly textOf: (item: T) => string
  readonly children: (shown: readonly T[]) => ComponentChildren
}

/** How many items stand on the screen at once: a keyboard reaches what follows them. */
const PAGE = 10

/** A long list in pages, with a search; a short one as it is. */
export function Paged<T>({ id, what, items, textOf, children }: PagedProps<T>) {
  const [sought, setSought] = useState('')
  const [wanted, setWanted] = useState(0)
  if (items.length <= PAGE) return <>{children(items)}</>
  const words = sought
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const isFound = (item: T) => {
    const text = textOf(item).toLowerCase()
    return words.every((word) => text.includes(word))
  }
  const found = words.length === 0 ? items : items.filter(isFound)
  const pages = Math.max(1, Math.ceil(found.length / PAGE))
  const page = Math.min(wanted, pages - 1)
  const first = page * PAGE
  const shown = found.slice(first, first + PAGE)
  const total = found.length === items.length ? `${items.length} ${what}` : `${found.length} found`
  return (
    <>
      <Field label={`Search ${what}`} id={`${id}-search`}>
        <input
          id={`${id}-search`}
          type="search"
          autocomplete="off"
          spellcheck={false}
          value={sought}
          // Enter would submit the form around the list.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          onInput={({ currentTarget: { value } }) => {
            setSought(value)
            setWanted(0)
          }}
        />
      </Field>
      {children(shown)}
      <nav class="pages" aria-label={`Pages of ${what}`}>
        <p class="muted" role="status">
          {found.length === 0 ? `No ${what} found` : `${first + 1}–${first + shown.length} of ${total}`}
        </p>
        <button
          type="button"
          class="quiet"
          aria-disabled={page === 0}
          onClick={() => setWanted(Math.max(0, page - 1))}
        >
          Previous
        </button>
        <button
          type="button"
          class="quiet"
          aria-disabled={page === pages - 1}
          onClick={() => setWanted(Math.min(pages - 1, page + 1))}
        >
          Next
        </button>
      </nav>
    </>
  )
}
