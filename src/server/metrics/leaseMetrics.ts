import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { LeaseObserver } from '../store/leaseHolder.js'
import { PREFIX } from './prefix.js'

/** Each server reports its own part in the leases, so the sum over all servers of `lease_held` is 1 or 0 for each. */
export function createLeaseMetrics(registry: Registry): LeaseObserver {
  const registers = [registry]
  const labelNames = ['lease']
  const held = new Gauge({
    name: `${PREFIX}lease_held`,
    help: '1 while this server holds a lease (narrator, trigger, relayer:<place of the account in the configuration, from 0>), 0 while it waits for it.',
    labelNames,
    registers,
  })
  const terms = new Counter({
    name: `${PREFIX}lease_terms_total`,
    help: 'How often this server has taken a lease.',
    labelNames,
    registers,
  })
  return (lease, isHeld) => {
    held.set({ lease }, isHeld ? 1 : 0)
    terms.inc({ lease }, isHeld ? 1 : 0)
  }
}
