import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { createClusterPlan } from './cluster/plan.js'
import { runClusterStorm } from './cluster/storm.js'
import { type Print, printReport } from './engine/storm.js'
import { createOrderPlan } from './orders/plan.js'
import { LONG_STALL_BOUND_MS, runOrderStorm } from './orders/storm.js'
import { createRelayPlan, type RelayPlanSize } from './relay/plan.js'
import { runRelayStorm } from './relay/storm.js'

type Found = Promise<{ readonly violations: readonly string[] }>

/** One storm of a long form, which keeps all of its files in a directory of its own. */
interface Part {
  readonly name: string
  readonly run: (directory: string) => Found
}

/**
 * Runs the storms of one form, one after the other.
 * @param sizes the numbers that the command line may change, and what they are otherwise
 * @returns whether nothing was found
 */
async function soak<Size extends string>(options: {
  readonly form: string
  readonly args: string[]
  readonly sizes: Readonly<Record<Size, number>>
  readonly parts: (size: Readonly<Record<Size, number>> & { readonly seed: number }) => readonly Part[]
  readonly print: Print
}): Promise<boolean> {
  const { form, args, sizes, parts, print } = options
  const names = ['seed', ...Object.keys(sizes)]
  const { values } = parseArgs({
    args,
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  })
  const seed = Math.floor(Math.random() * 1_000_000_000) + 1
  const size = { seed, ...sizes, ...z.record(z.string(), z.coerce.number().int().positive()).parse(values) }
  const root = join('data', 'soak', `${form}-${Date.now()}`)
  const command = form === 'relay' ? '' : ` ${form}`
  print(`seed ${size.seed}: repeat with npm run test:soak --${command} --seed ${size.seed}; see ${root}`)
  let found = 0
  for (const { name, run } of parts(size)) {
    print(`${name} begins`)
    const directory = resolve(root, name)
    await mkdir(directory, { recursive: true })
    const report = await run(directory)
    printReport(report, print)
    found += report.violations.length
  }
  return found === 0
}

/** The long form of the relay's storm. Resolves with whether nothing was found. */
export function soakRelay(args: string[], print: Print): Promise<boolean> {
  const sizes = { authorizations: 1_100, kills: 56 }
  return soak({
    form: 'relay',
    args,
    sizes,
    print,
    parts({ seed, authorizations, kills }) {
      function sizeOf(share: number): RelayPlanSize {
        const own = Math.ceil(kills * share)
        const rounds = {
          reads: Math.ceil(own / 3),
          sends: Math.ceil(own / 2),
          spells: Math.ceil(own / 3),
          chain: Math.ceil(own / 3),
        }
        return { seed, authorizations: Math.ceil(authorizations * share), kills: own, rounds, calmness: 3 }
      }
      return [
        {
          name: 'storm',
          run: (directory) => runRelayStorm({ plan: createRelayPlan(sizeOf(1)), directory, print }),
        },
        {
          name: 'reset',
          run: (directory) =>
            runRelayStorm({
              plan: createRelayPlan({ ...sizeOf(0.1), resets: ['down', 'up'] }),
              isLegacy: true,
              directory,
              print,
            }),
        },
      ]
    },
  })
}

/** For each life of the server. */
const ORDER_FAULTS = { store: 2, deaths: 2, world: 3, reorgs: 2 }
const ORDER_STOPS = 10

/** The long form of the orders' storm. Resolves with whether nothing was found. */
export function soakOrders(args: string[], print: Print): Promise<boolean> {
  return soak({
    form: 'orders',
    args,
    sizes: { orders: 500, kills: 30 },
    print,
    parts({ seed, orders, kills }) {
      const faults = {
        store: kills * ORDER_FAULTS.store,
        deaths: kills * ORDER_FAULTS.deaths,
        stops: ORDER_STOPS,
        world: kills * ORDER_FAULTS.world,
        reorgs: kills * ORDER_FAULTS.reorgs,
      }
      const plan = createOrderPlan({ seed, orders, kills, faults })
      const run = (directory: string) =>
        runOrderStorm({ plan, directory, print, mayMount: true, patienceMs: LONG_STALL_BOUND_MS })
      return [{ name: 'storm', run }]
    },
  })
}

const MS_PER_MINUTE = 60_000
const LEASE_TTL_MS = 2_000
/** The length of the storm whose failovers lose the last commits. */
const ASYNCHRONOUS_MINUTES = 3
/** A run whose end is lost counts as under way until a minute after its time, and is looked for every half minute. */
const AFTER_LOSS_MS = 240_000

/** So much goes on in each minute of the cluster's storm. */
function clusterSize(minutes: number) {
  return {
    lengthMs: minutes * MS_PER_MINUTE,
    leaseTtlMs: LEASE_TTL_MS,
    orders: minutes * 15,
    faults: minutes * 10,
    stops: minutes * 8,
    acts: minutes * 2,
    replacements: Math.floor(minutes / 8),
    world: minutes * 2,
    reorgs: minutes * 2,
    nodes: minutes,
    calmness: 20,
  }
}

/** The long form of the cluster's storm. Resolves with whether nothing was found. */
export function soakCluster(args: string[], print: Print): Promise<boolean> {
  return soak({
    form: 'cluster',
    args,
    sizes: { minutes: 10 },
    print,
    parts({ seed, minutes }) {
      const common = { leaseTtlMs: LEASE_TTL_MS, print, mayMount: true }
      const plan = createClusterPlan({ seed, ...clusterSize(minutes) })
      const losing = createClusterPlan({ seed, ...clusterSize(ASYNCHRONOUS_MINUTES), isAsynchronous: true })
      return [
        { name: 'storm', run: (directory) => runClusterStorm({ ...common, plan, directory }) },
        {
          name: 'asynchronous',
          run: (directory) =>
            runClusterStorm({ ...common, plan: losing, directory, patienceMs: AFTER_LOSS_MS }),
        },
      ]
    },
  })
}
