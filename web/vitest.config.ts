// Unit tests: style sheets are read as they stand, for the tests of their colours.
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { css: true, include: ['tests/**/*.test.ts'] } })
