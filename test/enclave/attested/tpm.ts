// A machine with a TPM of software (swtpm): it boots images, and its owner runs tpm2-tools in each of them.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { createNitroTpm } from '../../../src/enclave/attested/nitroTpm.js'
import { eventually } from '../../support/eventually.js'
import { freePorts } from '../../support/freePorts.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const run = promisify(execFile)
const BANKS = ['--pcr-banks', 'sha256,sha384']

export async function useMachine(cleanUp: AsyncDisposableStack) {
  const state = await temporaryDirectory()
  const port = await adjacentPorts()
  const tcti = `swtpm:host=127.0.0.1,port=${port}`
  await run('swtpm_setup', ['--tpm2', '--tpmstate', state, ...BANKS])
  let off = async () => {}
  cleanUp.defer(() => off())

  /** Runs one of tpm2-tools in a directory. */
  const tool = (directory: string, [name, ...args]: readonly [string, ...string[]]) =>
    run(name, args, { cwd: directory, env: { PATH: process.env.PATH, TPM2TOOLS_TCTI: tcti } })

  return {
    tool,
    nitroTpm: createNitroTpm({ tcti }),
    /** Restarts the machine. @param events of each register, in digits of hex that are repeated */
    async boot(events: Readonly<Record<number, string>>): Promise<void> {
      await off()
      const ports = ['--server', `type=tcp,port=${port}`, '--ctrl', `type=tcp,port=${port + 1}`]
      const flags = ['--flags', 'not-need-init,startup-clear']
      const tpm = spawn('swtpm', ['socket', '--tpm2', '--tpmstate', `dir=${state}`, ...ports, ...flags])
      const ended = once(tpm, 'close')
      off = async () => {
        tpm.kill()
        await ended
      }
      const isUp = () => tool(state, ['tpm2_pcrread', '-Q', 'sha384:0']).catch(() => undefined)
      await eventually('the TPM is there', isUp)
      for (const [register, digit] of Object.entries(events))
        await tool(state, ['tpm2_pcrextend', `${register}:sha384=${digit.repeat(96)}`])
    },
  }
}

export type Machine = Awaited<ReturnType<typeof useMachine>>

/** The first of two: the tools expect control at the port behind that of commands. */
async function adjacentPorts(): Promise<number> {
  const [port = 0] = await freePorts(1)
  const server = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port + 1, '127.0.0.1', () => resolve(true))
  })
  server.close()
  return isFree ? port : adjacentPorts()
}
