import { type ContainerNode, h, render } from 'preact'

/** A hook in a component of its own, which shows nothing, and so needs no browser. */
export interface RenderedHook<T> {
  /** What it returned last. */
  readonly current: () => T
  readonly rerender: () => void
  readonly unmount: () => void
}

export function renderHook<T>(use: () => T): RenderedHook<T> {
  const returned: { last?: T } = {}
  const Host = () => {
    returned.last = use()
    return null
  }
  const container = emptyContainer()
  const rerender = () => render(h(Host, {}), container)
  rerender()
  return {
    rerender,
    current() {
      if (returned.last === undefined) throw new Error('the hook was not called, or returned nothing')
      return returned.last
    },
    unmount: () => render(null, container),
  }
}

/** Where nothing is put. */
function emptyContainer(): ContainerNode {
  const refuse = () => {
    throw new Error('a hook draws nothing')
  }
  return {
    ...{ nodeType: 1, parentNode: null, firstChild: null, childNodes: [] },
    ...{ insertBefore: refuse, appendChild: refuse, removeChild: refuse },
  }
}
