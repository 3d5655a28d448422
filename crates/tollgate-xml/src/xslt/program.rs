//! A compiled stylesheet: what its neighbours make and run. It never changes, and threads share it.

use std::collections::HashMap;

use super::decimal::DecimalFormat;
use super::numbering::Level;
use super::pattern::Pattern;
use super::result::Escaping;
use super::rules::Rules;
use crate::error::Error;
use crate::forest::NameTable;
use crate::serialize::OutputSettings;
use crate::xpath::expression::Expression;

/// A name with its namespace: namespace first.
pub(crate) type ExpandedName = (Box<str>, Box<str>);

/// Pairs of a prefix and its namespace.
pub(crate) type Declarations = Vec<(Box<str>, Box<str>)>;

/// The program.
#[derive(Debug)]
pub(crate) struct Program {
    /// The texts it was compiled from, the stylesheet itself first.
    pub(crate) modules: Vec<Module>,
    /// The names of all expressions and patterns.
    pub(crate) names: NameTable,
    pub(crate) output: OutputSettings,
    pub(crate) templates: Vec<Template>,
    /// Rules by mode; the first is the mode without a name.
    pub(crate) modes: Vec<Rules>,
    pub(crate) globals: Vec<Global>,
    pub(crate) keys: Vec<Key>,
    pub(crate) decimal_formats: HashMap<ExpandedName, DecimalFormat>,
    pub(crate) attribute_sets: Vec<AttributeSet>,
    pub(crate) spaces: Vec<SpaceRule>,
    /// Errors that are only raised on evaluation (section 2.5).
    pub(crate) deferred: Vec<Error>,
    /// The scopes in which names are resolved while the program runs.
    pub(crate) scopes: Vec<ScopeOf>,
}

/// A text that was compiled.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) name: Box<str>,
    pub(crate) text: Box<str>,
}

/// The scope of an element of a stylesheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScopeOf {
    pub(crate) module: u32,
    pub(crate) declarations: Declarations,
}

/// A place in a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Spot {
    pub(crate) module: u32,
    pub(crate) offset: u32,
}

/// A template.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) body: Block,
    /// Its parameters, each with its slot.
    pub(crate) parameters: Vec<(ExpandedName, u32)>,
    /// Variables that it has.
    pub(crate) slots: u32,
    /// Precedence of its stylesheet, and the least among those that it imports (section 2.6.2).
    pub(crate) precedence: u32,
    pub(crate) least_imported: u32,
}

/// Instructions in order.
pub(crate) type Block = Vec<Instruction>;

/// An instruction and its place.
#[derive(Debug)]
pub(crate) struct Instruction {
    pub(crate) spot: Spot,
    pub(crate) action: Action,
}

/// The action of an instruction.
#[derive(Debug)]
pub(crate) enum Action {
    /// A text of the stylesheet.
    Text(Box<str>, Escaping),
    /// An element of the stylesheet.
    Literal(Box<Literal>),
    ApplyTemplates(Box<ApplyTemplates>),
    ApplyImports,
    CallTemplate(u32, Vec<Argument>),
    ForEach(Box<ForEach>),
    Choose(Vec<(Expression, Block)>, Block),
    ValueOf(Expression, Escaping),
    CopyOf(Expression),
    Copy(Vec<u32>, Block),
    Element(Box<MadeElement>),
    Attribute(Box<MadeAttribute>),
    Comment(Block),
    Instruction(ValueTemplate, Block),
    Number(Box<NumberInstruction>),
    /// A variable and its slot.
    Variable(u32, Binding),
    /// A parameter: a variable unless the caller gave a value.
    Parameter(u32, Binding),
    Message(Block, Ending),
    /// An unknown instruction: other instructions, or the error of this number.
    Fallback(Option<Block>, u32),
}

/// The effect of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    GoOn,
    Terminate,
}

/// An attribute value template (section 7.6.2).
#[derive(Debug, Clone)]
pub(crate) enum ValueTemplate {
    Fixed(Box<str>),
    Parts(Vec<Part>),
}

/// A part of an attribute value template.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(Box<str>),
    Value(Expression),
}

/// A name as an element or attribute of the stylesheet has it.
#[derive(Debug, Clone)]
pub(crate) struct LiteralName {
    pub(crate) prefix: Box<str>,
    pub(crate) local: Box<str>,
    pub(crate) uri: Box<str>,
}

/// A literal result element (section 7.1.1).
#[derive(Debug)]
pub(crate) struct Literal {
    pub(crate) name: LiteralName,
    pub(crate) declarations: Declarations,
    pub(crate) attribute_sets: Vec<u32>,
    pub(crate) attributes: Vec<(LiteralName, ValueTemplate)>,
    pub(crate) body: Block,
}

#[derive(Debug)]
pub(crate) struct ApplyTemplates {
    /// Absent: the children.
    pub(crate) select: Option<Expression>,
    pub(crate) mode: u32,
    pub(crate) sorts: Vec<Sort>,
    pub(crate) arguments: Vec<Argument>,
}

#[derive(Debug)]
pub(crate) struct ForEach {
    pub(crate) select: Expression,
    pub(crate) sorts: Vec<Sort>,
    pub(crate) body: Block,
}

/// `xsl:sort` (section 10).
#[derive(Debug)]
pub(crate) struct Sort {
    pub(crate) select: Expression,
    pub(crate) language: Option<ValueTemplate>,
    pub(crate) data_type: Option<ValueTemplate>,
    pub(crate) order: Option<ValueTemplate>,
    pub(crate) case_order: Option<ValueTemplate>,
}

/// `xsl:with-param`.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: ExpandedName,
    pub(crate) value: Binding,
}

/// The value of a variable.
#[derive(Debug)]
pub(crate) enum Binding {
    Select(Expression),
    /// A result tree fragment.
    Fragment(Block),
    /// No content: the empty text.
    Empty,
}

/// `xsl:element`.
#[derive(Debug)]
pub(crate) struct MadeElement {
    pub(crate) name: ValueTemplate,
    pub(crate) namespace: Option<ValueTemplate>,
    /// The number of the declarations in scope.
    pub(crate) scope: u32,
    pub(crate) attribute_sets: Vec<u32>,
    pub(crate) body: Block,
}

/// `xsl:attribute`.
#[derive(Debug)]
pub(crate) struct MadeAttribute {
    pub(crate) name: ValueTemplate,
    pub(crate) namespace: Option<ValueTemplate>,
    pub(crate) scope: u32,
    pub(crate) body: Block,
}

/// `xsl:number` (section 7.7).
#[derive(Debug)]
pub(crate) struct NumberInstruction {
    pub(crate) value: Option<Expression>,
    pub(crate) level: Level,
    pub(crate) count: Option<Pattern>,
    pub(crate) from: Option<Pattern>,
    pub(crate) format: ValueTemplate,
    pub(crate) letter_value: Option<ValueTemplate>,
    pub(crate) grouping_separator: Option<ValueTemplate>,
    pub(crate) grouping_size: Option<ValueTemplate>,
}

/// A variable or parameter of the stylesheet.
#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) name: ExpandedName,
    pub(crate) value: Binding,
    pub(crate) spot: Spot,
    pub(crate) kind: GlobalKind,
    /// Variables that its value has.
    pub(crate) slots: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GlobalKind {
    Variable,
    /// The caller of the stylesheet may set it.
    Parameter,
}

/// All declarations of a key's name (section 12.2).
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: ExpandedName,
    pub(crate) declarations: Vec<(Pattern, Expression)>,
}

/// The declarations of one named set of attributes, the least important first (section 7.1.4).
#[derive(Debug)]
pub(crate) struct AttributeSet {
    pub(crate) parts: Vec<AttributeSetPart>,
}

#[derive(Debug)]
pub(crate) struct AttributeSetPart {
    pub(crate) uses: Vec<u32>,
    pub(crate) body: Block,
    pub(crate) slots: u32,
}

/// `xsl:strip-space` or `xsl:preserve-space` for one name test (section 3.4).
#[derive(Debug, Clone)]
pub(crate) struct SpaceRule {
    pub(crate) test: SpaceTest,
    pub(crate) strips: bool,
    pub(crate) precedence: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SpaceTest {
    Any,
    Namespace(Box<str>),
    Name(ExpandedName),
}

/// The bit that distinguishes a variable of the stylesheet from one of a template.
pub(crate) const GLOBAL: u32 = 1 << 31;

impl Program {
    /// Whether texts of only white space in an element of this name are left out: the rule of the highest precedence
    /// counts, then the one that says more of the name, then the last.
    pub(crate) fn strips(&self, uri: &str, local: &str) -> bool {
        let holds = |rule: &&SpaceRule| match &rule.test {
            SpaceTest::Any => true,
            SpaceTest::Namespace(namespace) => **namespace == *uri,
            SpaceTest::Name((namespace, name)) => **name == *local && **namespace == *uri,
        };
        let weight = |rule: &&SpaceRule| {
            let exactness = match rule.test {
                SpaceTest::Any => 0,
                SpaceTest::Namespace(_) => 1,
                SpaceTest::Name(_) => 2,
            };
            (rule.precedence, exactness)
        };
        self.spaces.iter().filter(holds).max_by_key(weight).is_some_and(|rule| rule.strips)
    }

    /// An error at a place of the stylesheet.
    pub(crate) fn located(&self, error: Error, spot: Spot) -> Error {
        let module = &self.modules[spot.module as usize];
        error.or_at(&module.name, &module.text, spot.offset as usize)
    }
}
