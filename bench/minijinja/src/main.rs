//! Renders chat templates with minijinja on the orders of bench/render.py; see there for the
//! protocol. What transformers adds to jinja2 is added here, so that outputs can be equal.
use std::fs;
use std::io::{self, BufRead, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Value};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// Separators as Python's json.dumps writes them.
struct PythonFormatter;

impl Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }
}

fn failed(e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidOperation, e.to_string())
}

fn tojson(value: &Value, kwargs: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = kwargs.get("indent")?;
    let _ascii: Option<bool> = kwargs.get("ensure_ascii")?;
    kwargs.assert_all_used()?;
    let mut out = Vec::with_capacity(128);
    if let Some(n) = indent {
        let spaces = vec![b' '; n];
        let format = PrettyFormatter::with_indent(&spaces);
        value.serialize(&mut Serializer::with_formatter(&mut out, format)).map_err(failed)?;
    } else {
        value.serialize(&mut Serializer::with_formatter(&mut out, PythonFormatter)).map_err(failed)?;
    }
    Ok(Value::from(String::from_utf8(out).map_err(failed)?))
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(failed(message))
}

/// The fixed moment of the benchmark, in the two forms that templates ask for.
fn strftime_now(format: String) -> String {
    format.replace("%d", "01").replace("%b", "Jan").replace("%B", "January").replace("%m", "01")
        .replace("%Y", "2026")
}

fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.expect("only switches were set"));
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    env.add_filter("tojson", tojson);
    env.add_function("raise_exception", raise_exception);
    env.add_function("strftime_now", strftime_now);
    env
}

fn cpu_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).expect("inputs are JSON")
}

#[derive(Default)]
struct Work {
    lines: Vec<String>,
    values: Vec<Value>,
    chosen: Vec<usize>,
}

impl Work {
    fn load(&mut self, path: &str) -> io::Result<()> {
        self.lines = fs::read_to_string(path)?.lines().map(String::from).collect();
        self.values = self.lines.iter().map(|l| parse(l)).collect();
        self.chosen = (0..self.lines.len()).collect();
        Ok(())
    }

    fn outputs(&self, env: &Environment, path: &str) -> io::Result<()> {
        let template = env.get_template("t").map_err(io::Error::other)?;
        let mut out = Vec::new();
        for value in &self.values {
            match template.render(value) {
                Ok(text) => {
                    out.extend((text.len() as u64).to_le_bytes());
                    out.extend(text.as_bytes());
                }
                Err(_) => out.extend(u64::MAX.to_le_bytes()),
            }
        }
        fs::write(path, out)
    }

    /// Nanoseconds of one pass over the chosen inputs.
    fn time(&self, env: &Environment, json: bool, at_least: u64) -> u64 {
        let template = env.get_template("t").expect("compiled before");
        let (start, mut passes, mut bytes) = (cpu_ns(), 0, 0);
        loop {
            for &i in &self.chosen {
                let text = if json {
                    template.render(parse(&self.lines[i]))
                } else {
                    template.render(&self.values[i])
                };
                bytes += text.map_or(0, |t| t.len());
            }
            passes += 1;
            let spent = cpu_ns() - start;
            if spent >= at_least {
                std::hint::black_box(bytes);
                return spent / passes;
            }
        }
    }
}

fn main() {
    let mut env = environment();
    let mut work = Work::default();
    for line in io::stdin().lock().lines() {
        let line = line.expect("orders are text");
        let (order, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = match order {
            "version" => "minijinja 3.1.0 (Rust)".to_string(),
            "template" => {
                let source = fs::read_to_string(rest).unwrap_or_default();
                env.remove_template("t");
                env.add_template_owned("t", source).map_or_else(|_| "error".into(), |_| "ok".into())
            }
            "inputs" => work.load(rest).map_or_else(|e| e.to_string(), |_| "ok".into()),
            "outputs" => work.outputs(&env, rest).map_or_else(|_| "error".into(), |_| "ok".into()),
            "choose" => {
                work.chosen = rest.split(',').filter_map(|n| n.parse().ok()).collect();
                "ok".into()
            }
            "time" => {
                let (mode, ns) = rest.split_once(' ').expect("time MODE NANOSECONDS");
                work.time(&env, mode == "json", ns.parse().expect("a number")).to_string()
            }
            _ => "unknown order".into(),
        };
        println!("{answer}");
    }
}
