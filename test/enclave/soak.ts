import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { WHOLE } from './support/sample.js'

const SWEEPS = ['test/enclave/besides.test.ts', 'test/enclave/late.test.ts', 'test/enclave/mishaps']

/** Plays every point of the sweeps, of which a night plays a third. @returns whether all passed */
export async function soakSweeps(): Promise<boolean> {
  const vitest = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...SWEEPS], {
    stdio: 'inherit',
    env: { ...process.env, LENGTH: `${WHOLE}` },
  })
  const [code] = await once(vitest, 'exit')
  return code === 0
}
