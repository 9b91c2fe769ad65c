import { z } from 'zod'
import { startBareServer } from './bareRoute.js'
import { compare } from './compare.js'
import type { Figure } from './figure.js'
import type { LoadRequest } from './load.js'
import type { Platform } from './platform.js'

/** A figure of a GET route. */
export interface GetFigure {
  readonly name: string
  readonly title: string
  /** Express path of the bare route. */
  readonly route: string
  readonly goal: number
  readonly notes: readonly string[]
  /** Paths to ask for, in turn. */
  paths(platform: Platform): readonly string[] | Promise<readonly string[]>
}

/** Measures a GET route against a bare one that answers the same body. */
export function getFigure({ name, title, route, goal, notes, paths }: GetFigure): Figure {
  return {
    name,
    title,
    async measure(context) {
      const platform = await context.platform()
      const { url } = platform.server
      const asked = await paths(platform)
      const requests = asked.map((path): LoadRequest => ({ method: 'GET', path }))
      const body = await bodyOf(`${url}${asked[0] ?? ''}`)
      const bare = await startBareServer({ method: 'GET', path: route, status: 200, body })
      try {
        const comparison = await compare({
          ...context.rounds,
          ours: platform.server,
          peers: { bare },
          requests: () => requests,
          once: false,
        })
        return { kind: 'route', comparison, goals: { bare: goal }, notes }
      } finally {
        await bare.stop()
      }
    },
  }
}

async function bodyOf(url: string) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return z.json().parse(await response.json())
}
