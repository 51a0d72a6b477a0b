/** Jest over @swc/jest, as ES modules: what runs in a test is what `tsc` compiles. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/__tests__'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2024', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  testTimeout: 30_000,
  // Most tests wait, for sockets, polls and child processes: on two cores three workers take two thirds of the time of two.
  maxWorkers: 3,
}
