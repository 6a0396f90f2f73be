import { createTheme, type DataFrame, ThemeContext } from '@grafana/data';
import { GlobalStyles, PortalContainer } from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { Dashboard } from './dashboard.tsx';
import { withFieldConfig } from './field-config.ts';
import { placeOf } from './grid.ts';
import { marksOf } from './marks.ts';
import { queryPanel } from './query.ts';
import { transform } from './transform.ts';
import './page.css';

const PADDING = 32;

async function draw(): Promise<void> {
  const { given } = window;
  const base = createTheme({ colors: { mode: 'dark' } });
  const theme = createTheme({
    colors: { mode: 'dark' },
    typography: { fontFamily: `'Inter Variable', ${base.typography.fontFamily}` },
  });
  const width = document.documentElement.clientWidth - PADDING;

  const frames = new Map<number, DataFrame[]>();
  for (const panel of given.dashboard.panels) {
    const found = await queryPanel(given, panel, placeOf(panel, width).width);
    frames.set(panel.id, withFieldConfig(await transform(panel, found), panel.fieldConfig, theme));
  }
  const marks = await marksOf(given);
  await Promise.all(['400', '500'].map((weight) => document.fonts.load(`${weight} 14px "Inter Variable"`)));

  createRoot(document.body.appendChild(document.createElement('div'))).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <Dashboard given={given} frames={frames} marks={marks} width={width} />
      <PortalContainer />
    </ThemeContext.Provider>,
  );
  // Charts draw after React has rendered, and tables measure themselves.
  setTimeout(() => {
    window.isDrawn = true;
  }, 1_000);
}

void draw();
