// Fills the page from the data in its data element: one section after the other, those that apply.
import {element} from './dom.js';
import {parseReport} from './records.js';
import {accuracy, accuracyAnswer} from './sections/accuracy.js';
import {assumptions} from './sections/assumptions.js';
import {changes} from './sections/changes.js';
import {claims} from './sections/claims.js';
import {contents} from './sections/contents.js';
import {cost} from './sections/cost.js';
import {dataTypes} from './sections/data_types.js';
import {distribution} from './sections/distribution.js';
import {energy} from './sections/energy.js';
import {loadCurve} from './sections/load_curve.js';
import {memory} from './sections/memory.js';
import {predictions, predictionsAnswer} from './sections/predictions.js';
import {problems} from './sections/problems.js';
import {roofline} from './sections/roofline.js';
import {study} from './sections/study.js';
import {sensitivity} from './sections/sensitivity.js';
import {service} from './sections/service.js';
import {serviceTime} from './sections/service_time.js';
import {summary} from './sections/summary.js';
import {time} from './sections/time.js';
import {timeline} from './sections/timeline.js';
import {whatIf} from './sections/what_if.js';
import {drawSections, listenToTheme, redrawWhenResized, Report} from './view.js';

const kSections = [
  contents, claims, changes, accuracy, predictions, service, loadCurve, distribution, serviceTime, dataTypes, summary, problems, cost, energy, memory, whatIf, sensitivity, study, roofline, time, timeline,
  assumptions,
];

const at = (id) => document.getElementById(id);

// The first sentence and those after it.
function answerTo({data, records}) {
  const {answer = [], index = []} = data.frame ?? {};
  if (index.length) return [`${index.length} ${index.length === 1 ? 'report' : 'reports'}.`];
  if (data.predicted) return predictionsAnswer(data.predicted);
  if (answer.length) return answer;
  if (data.accuracy && records.length === 0) return [`Predictions against measurements. ${accuracyAnswer(data.accuracy)}.`];
  return ['There are no predictions in this report.'];
}

function start() {
  let report;
  try {
    report = new Report(parseReport(at('foretell-data').textContent));
  } catch (problem) {
    at('problem').textContent = `This report cannot be drawn: ${problem.message}`;
    at('problem').hidden = false;
    return;
  }
  const {frame = {}, left_out: leftOut} = report.data;
  if (frame.title) {
    at('title').textContent = frame.title;
    document.title = `${frame.title} – Foretell`;
  }
  at('about').textContent = frame.about ?? '';
  const [answer, ...details] = answerTo(report);
  at('answer').textContent = answer;
  at('details').append(...details.map((sentence) => element('li', {}, sentence)));
  if (leftOut) {
    at('left-out').textContent = `Operators and resources of ${leftOut.toLocaleString('en-US')} predictions were ` +
      'left out to keep this file small.';
  }
  listenToTheme();
  drawSections(report, kSections);
  redrawWhenResized();
}

start();
