// The enclave whose keys are in files.
import { keysOf, loadConfig } from './config.js'
import { enclaveOf, runProgram } from './program.js'

await runProgram({
  file: 'dist/enclave/main.js',
  load: loadConfig,
  async start({ config, settings, logger, ...identity }) {
    // Only here: an older Node than `requireNode` asks for has no SQLite.
    const { openTable, startResident } = await import('./resident/resident.js')
    const table = openTable(settings, logger)
    const keys = keysOf(config)
    const enclave = enclaveOf(config, keys, logger)
    const program = { ...identity, mode: 'file-keys' as const, signer: () => keys.signer }
    return startResident(settings, { table, enclave: () => enclave, program, logger })
  },
})
